"""Laws that generated numbers follow, as a scenario writes them: a number, or a table with `law`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain, cycle, repeat
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.observed import TraceFile, observed_values
from gridtune.scenarios.fields.table import Table, number

Floats = NDArray[np.float64]
# How far tails are followed: no draw in 10^18 lies beyond. Inversion draws nothing beyond 2^-53 anyway.
RARE = 18 * log(10)  # times the mean of an exponential law
DEVIATIONS = 8.8  # of a Gaussian law


class _Law(Table):
    def draw(self, rng: np.random.Generator, count: int, *, finite: bool = True) -> Floats:
        """`count` independent values of the law.

        Args:
            rng: where chance comes from.
            count: of values.
            finite: whether they are all numbers of a sensible size.

        Raises:
            ScenarioError: they are too large to be meant, or no numbers.
        """
        with np.errstate(all="ignore"):
            values = self._values(rng, count)
        if count and finite and not values.max() <= limits.NUMBER:  # nan neither
            written = ", ".join(f"{name} = {value}" for name, value in self.model_dump().items())
            raise ScenarioError(
                f"the law with {written} gives {values.max()}; the limit is {limits.NUMBER:g}"
            )
        return values

    @abstractmethod
    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        """`count` independent values."""

    @abstractmethod
    def _largest(self) -> float:
        """See `largest`; too large a number is infinite."""

    @property
    def largest(self) -> float:
        """A value that no draw exceeds, as far as `RARE` says; 0 where only the draws can tell."""
        with np.errstate(all="ignore"):
            return self._largest()

    @model_validator(mode="after")
    def _draws_sensible_values(self) -> Self:
        largest = self.largest
        if not largest <= limits.NUMBER and not isinstance(self, Constant):  # see `Law` and `EndlessLaw`
            raise ValueError(f"values up to {largest:g} are possible; the limit is {limits.NUMBER:g}")
        return self


class Constant(_Law):
    """The value is always the same."""

    endless: ClassVar[frozenset[str]] = frozenset({"value"})
    law: Literal["constant"] = "constant"
    value: float = number(..., "of the key", "every value", ge=0)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        return np.full(count, self.value)

    def _largest(self) -> float:
        return self.value


class _Between(_Law):
    """A law whose values lie between `low` and `high`."""

    if TYPE_CHECKING:
        low: float
        high: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.high <= self.low:
            raise ValueError(f"high ({self.high}) must be more than low ({self.low})")
        return self

    def _largest(self) -> float:
        return self.high


class Uniform(_Between):
    """Values are uniform on [low, high)."""

    law: Literal["uniform"]
    low: float = number(..., "of the key", "least value", ge=0)
    high: float = number(..., "of the key", "upper bound of the values, above `low`", gt=0)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.uniform(self.low, self.high, count)


class LogUniform(_Between):
    """Logarithms of values are uniform on [log low, log high)."""

    law: Literal["loguniform"]
    low: float = number(..., "of the key", "least value", gt=0)
    high: float = number(..., "of the key", "upper bound of the values, above `low`", gt=0)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        return np.exp(rng.uniform(log(self.low), log(self.high), count))


class Exponential(_Law):
    """Values are exponential with a mean."""

    law: Literal["exponential"]
    mean: float = number(..., "of the key", "mean of the law", gt=0)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.exponential(self.mean, count)

    def _largest(self) -> float:
        return RARE * self.mean


class LogNormal(_Law):
    """Values are log-normal with a median and a spread of the logarithm, cut above `maximum`."""

    law: Literal["lognormal"]
    median: float = number(..., "of the key", "median of the law", gt=0)
    sigma: float = number(..., "none", "standard deviation of the logarithm", gt=0)
    maximum: float = number(float("inf"), "of the key", "value above which the law is cut", gt=0)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        return np.minimum(rng.lognormal(log(self.median), self.sigma, count), self.maximum)

    def _largest(self) -> float:
        return min(self.maximum, float(np.exp(log(self.median) + DEVIATIONS * self.sigma)))


class Weibull(_Between):
    """Values are Weibull with scale and shape, cut to [low, high] by inversion (RR-5576, table 2)."""

    law: Literal["weibull"]
    scale: float = number(..., "of the key", "scale of the law", gt=0)
    shape: float = number(..., "none", "shape of the law", gt=0)
    low: float = number(0.0, "of the key", "least value", ge=0)
    high: float = number(float("inf"), "of the key", "upper bound of the values, above `low`", gt=0)

    @model_validator(mode="after")
    def _reached(self) -> Weibull:
        with np.errstate(all="ignore"):
            if not self._survival(self.low) > self._survival(self.high):
                raise ValueError(f"nothing of the law lies between low ({self.low}) and high ({self.high})")
        return self

    def _survival(self, value: float) -> float:
        """The share of the law above a value."""
        return exp(-float(np.float64(value / self.scale) ** self.shape))

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        above_low, above_high = self._survival(self.low), self._survival(self.high)
        survival = above_high + (above_low - above_high) * (1.0 - rng.random(count))
        return self.scale * (-np.log(survival)) ** (1.0 / self.shape)

    def _largest(self) -> float:
        beyond_low = np.float64(self.low / self.scale) ** self.shape + RARE
        return min(self.high, self.scale * float(beyond_low ** (1.0 / self.shape)))


class Gamma(_Law):
    """Values are gamma with a shape and a mean."""

    law: Literal["gamma"]
    shape: float = number(..., "none", "shape of the law", gt=0)
    mean: float = number(..., "of the key", "mean of the law", gt=0)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.gamma(self.shape, self.mean / self.shape, count)

    def _largest(self) -> float:
        # S. Boucheron et al., Concentration Inequalities, 2013, section 2.4: the tail of a Gamma law.
        return self.mean / self.shape * (self.shape + sqrt(2 * self.shape * RARE) + RARE)


class Gaussian(_Between):
    """Values are Gaussian with mean and standard deviation, cut to [low, high] by inversion."""

    law: Literal["gaussian"]
    mean: float = number(..., "of the key", "mean of the law before any cut", ge=0)
    deviation: float = number(..., "of the key", "standard deviation before any cut", gt=0)
    low: float = number(0.0, "of the key", "least value", ge=0)
    high: float = number(float("inf"), "of the key", "upper bound of the values, above `low`", gt=0)

    @model_validator(mode="after")
    def _reached(self) -> Gaussian:
        if self.low > self.mean + 8 * self.deviation or self.high < self.mean - 8 * self.deviation:
            raise ValueError(f"nothing of the law lies between low ({self.low}) and high ({self.high})")
        return self

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        from scipy.special import ndtr, ndtri

        # The upper tail by its mirror image: near 1 there are few numbers, near 0 there are many.
        side = -1.0 if self.low > self.mean else 1.0
        cuts = (self.high, self.low) if side < 0 else (self.low, self.high)
        below, above = (ndtr(side * (cut - self.mean) / self.deviation) for cut in cuts)
        drawn = rng.random(count)
        standard = side * ndtri(below + (above - below) * (1.0 - drawn if side < 0 else drawn))
        return np.clip(self.mean + self.deviation * standard, self.low, self.high)

    def _largest(self) -> float:
        return min(self.high, max(self.low, self.mean) + DEVIATIONS * self.deviation)


class Empirical(_Law):
    """Values of a column of a file are drawn with replacement, or taken in turn."""

    law: Literal["empirical"]
    file: TraceFile = Field(description="file in CSV with a header, or a trace in SWF or GWF")
    column: str = Field(
        description="column of the CSV file; of a trace runtime, wait, processors, estimate or interval"
    )
    order: Literal["drawn", "in-turn"] = Field(
        default="drawn", description="whether values are drawn at random, or come in turn, again and again"
    )
    scale: float = number(1.0, "ratio", "factor on the values", gt=0)

    @property
    def observed(self) -> Floats:
        """The values, scaled.

        Raises:
            ScenarioError: the file or the column cannot be used.
        """
        return self.scale * observed_values(self.file, self.column)

    def _values(self, rng: np.random.Generator, count: int) -> Floats:
        values = self.observed
        if self.order == "in-turn":
            return np.resize(values, count)
        return values[rng.integers(len(values), size=count)]

    def _largest(self) -> float:
        return 0.0  # files are read when a run is built, and say then what is wrong with them


def _number_is_constant(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"law": "constant", "value": value}
    return value


EndlessLaw = Annotated[  # where something without end makes sense
    Annotated[
        Constant | Uniform | LogUniform | Exponential | LogNormal | Weibull | Gamma | Gaussian | Empirical,
        Field(discriminator="law"),
    ],
    BeforeValidator(
        _number_is_constant, json_schema_input_type=Annotated[float, Field(ge=0)] | dict[str, Any]
    ),
]


def _ends(law: _Law) -> _Law:
    if isinstance(law, Constant) and law.value == inf:
        raise ValueError("inf is no finite number")
    return law


def _not_zero(law: _Law) -> _Law:
    if isinstance(law, Constant) and law.value == 0:
        raise ValueError("0 is not more than 0")
    return law


Law = Annotated[EndlessLaw, AfterValidator(_ends)]
PositiveLaw = Annotated[  # of what there must be some of
    Law,
    AfterValidator(_not_zero),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "object"}]}),
]

BLOCKS = (32, 64, 128, 256, 512, 1024)  # values drawn at once: at first, and so on; the last for good


def draws(law: Law, rng: np.random.Generator) -> Iterator[float]:
    """Independent values of a law without end, drawn in blocks as they are needed; see `in_blocks`."""
    if isinstance(law, Constant):
        return repeat(law.value)
    if isinstance(law, Empirical) and law.order == "in-turn":
        return cycle(law.observed.tolist())
    return in_blocks(lambda count: law.draw(rng, count))


def evenly(most: int, rng: np.random.Generator) -> Iterator[int]:
    """Numbers from 0, below `most`, without end, all equally likely; drawn in blocks, see `in_blocks`."""
    return in_blocks(lambda count: rng.integers(most, size=count))


def by_rank(most: int, exponent: float, rng: np.random.Generator) -> Iterator[int]:
    """Numbers from 0, below `most`, without end, k with weight (k + 1)^-exponent (Zipf); see `in_blocks`."""
    weights = np.arange(1, most + 1, dtype=float) ** -exponent
    bounds = np.cumsum(weights)[:-1] / weights.sum()
    return in_blocks(lambda count: np.searchsorted(bounds, rng.random(count), side="right"))


def in_blocks(draw: Callable[[int], NDArray[Any]]) -> Iterator[Any]:
    """Values without end that are drawn many at once.

    Blocks grow, since many a workload has few jobs; the values must not depend on the blocks.

    Args:
        draw: so many values.
    """
    return chain.from_iterable(draw(size).tolist() for size in chain(BLOCKS, repeat(BLOCKS[-1])))
