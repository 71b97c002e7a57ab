// Browsers give no workers to pages that are read from a folder. There, the script of a worker runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html>";
      this.inner = new Promise((started) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inner.document.createElement("script");
          script.src = url;
          script.addEventListener("load", () => started(inner));
          inner.document.body.append(script);
        }, { once: true });
      });
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.inner.then((inner) => inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
