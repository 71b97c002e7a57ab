"""Batch scheduling of a site: what runs and waits there, its nodes, and the policies that start jobs."""

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.ledger import Ledger
from gridtune.model.batch.nodes import Counted, Named, NodePool, host_list, hosts_in
from gridtune.model.batch.planning.profile import Profile
from gridtune.model.batch.policies import BatchPolicy, Conservative, Easy, FairShare, Fcfs
from gridtune.model.batch.priority import Priority
from gridtune.model.batch.queues import Queue
