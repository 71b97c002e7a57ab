"""Batch scheduling of a site: what runs and waits there, its nodes, and the policies that start jobs."""

from model.batch.cluster import Cluster, Queue
from model.batch.ledger import Ledger
from model.batch.nodes import Counted, Named, NodePool, host_list, hosts_in
from model.batch.policies import BatchPolicy, Conservative, Easy, FairShare, Fcfs
from model.batch.profile import Profile
