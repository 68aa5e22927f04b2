import { isOutboundEntry } from '#domain/shared/outbound/outbound-policy.ts';
import { boolean, listOf, oneOf, type Setting, textLike, userName, wholeNumber } from './config-values.ts';

const isPoolName = (name: string) => /^[a-z0-9][a-z0-9._-]{0,62}$/.test(name);

/** The settings of a worker and of the executors that run template code. */
export const workerSettings = {
  WORKER_POOLS: {
    schema: listOf(isPoolName, 'pool names (lowercase letters, digits, ".", "_" and "-")'),
    default: 'default',
    description: 'Pools, separated by commas, whose runs this worker executes.',
  },
  WORKER_CONCURRENCY: {
    schema: wholeNumber(1, 1000),
    default: null,
    description:
      'Maximum number of concurrent executions of this worker in each pool. Default: two for each core, but at most one for each 512 MiB of memory, shared among its pools.',
  },
  WORKER_DRAIN_SECONDS: {
    schema: wholeNumber(0, 86_400),
    default: '10',
    description:
      'How long a stopping worker lets its executions continue. After that it hands back plans and interrupts applies. Let your orchestrator wait a minute longer.',
  },
  WORKER_METRICS_PORT: {
    schema: wholeNumber(1, 65_535),
    default: null,
    description:
      'Port on which this worker serves `/metrics`, at `COORDINATOR_ADMIN_HOST`. Keep it on a trusted network. Each worker of a machine needs its own. Default: none; a worker then listens on no port.',
  },
  COORDINATOR_EXECUTOR_ISOLATION: {
    schema: oneOf(['sandbox', 'auto', 'none']),
    default: 'sandbox',
    description:
      'How template code is contained. `sandbox`: always; a worker that cannot make sandboxes does not start. `auto`: if possible; `start` uses this and reports when it is not. `none`: never; template code has all rights of the user that the executor host runs as.',
  },
  COORDINATOR_EXECUTOR_USER: {
    schema: userName,
    default: null,
    description:
      "Operating-system user of the executor host, which starts the sandboxes. Only for a worker that runs as root. Default: if the worker is root, an unused user id, always the same one for a data directory; otherwise the worker's own user.",
  },
  COORDINATOR_EXECUTOR_MEMORY_MB: {
    schema: wholeNumber(64, 1_048_576),
    default: '2048',
    description:
      'Memory limit of one attempt, which includes files in memory. An attempt that exceeds it fails with `memory_limit`.',
  },
  COORDINATOR_EXECUTOR_DISK_MB: {
    schema: wholeNumber(16, 1_048_576),
    default: '1024',
    description:
      'Disk limit of one attempt over all its directories. An attempt that exceeds it fails with `directory_limit`. The files are kept in memory and count towards the memory limit.',
  },
  COORDINATOR_EXECUTOR_CPUS: {
    schema: wholeNumber(1, 1024),
    default: null,
    description:
      'Processors that one attempt may use at a time, if the worker has control groups. Default: half of the processors of the machine, at least one.',
  },
  COORDINATOR_EXECUTOR_CPU_SECONDS: {
    schema: wholeNumber(1, 604_800),
    default: '7200',
    description: 'Processor time limit of one attempt. An attempt that exceeds it fails with `cpu_limit`.',
  },
  COORDINATOR_EXECUTOR_PROCESSES: {
    schema: wholeNumber(16, 65_536),
    default: '512',
    description: 'Maximum number of processes of one attempt. An attempt that exceeds it fails with `process_limit`.',
  },
  COORDINATOR_EXECUTOR_OPEN_FILES: {
    schema: wholeNumber(64, 1_048_576),
    default: '4096',
    description:
      'Maximum number of open files of one process of an attempt. An attempt that exceeds it fails with `open_files_limit`.',
  },
  COORDINATOR_EXECUTOR_PATHS: {
    schema: listOf((path) => path.startsWith('/') && !path.includes('\0'), 'absolute paths of directories'),
    default: null,
    description:
      'Directories, separated by commas, that sandboxes see read-only in addition to system directories such as `/usr`: `/opt/tools`, `/nix/store`.',
  },
  COORDINATOR_EXECUTOR_DENIED: {
    schema: listOf(isOutboundEntry, 'names, addresses and CIDR ranges'),
    default: null,
    description:
      'Names, addresses and CIDR ranges, separated by commas, that template code can never reach, such as the addresses of the API. The database, Temporal and this machine are always denied.',
  },
  COORDINATOR_TOOLS_DIRECTORY: {
    schema: textLike(/^\//, 'the absolute path of a directory'),
    default: null,
    description:
      'Directory of OpenTofu and Terraform in several versions, in addition to those on the `PATH`: `opentofu/1.12.6/tofu`, `terraform/1.11.4/terraform`. Every user must be able to read it. Default: `tools` in the data directory.',
  },
  COORDINATOR_PROVIDER_MIRROR: {
    schema: textLike(/^\//, 'the absolute path of a directory'),
    default: null,
    description: 'Directory of providers in the layout of an OpenTofu filesystem mirror. Sandboxes see it read-only.',
  },
  COORDINATOR_PROVIDER_NETWORK_MIRROR: {
    schema: textLike(/^https:\/\/[^\s"]+\/$/, 'an https URL that ends in "/"'),
    default: null,
    description: 'URL of a provider network mirror. The egress policy of a pool must allow it.',
  },
  COORDINATOR_PROVIDER_DIRECT: {
    schema: boolean,
    default: null,
    description:
      'Whether providers may be downloaded from their own registries. Default: only if neither mirror is set.',
  },
  COORDINATOR_PROVIDER_STORE_MB: {
    schema: wholeNumber(0, 16_777_216),
    default: '10240',
    description:
      'Maximum size of the unpacked providers that this machine keeps for later runs. Beyond it, the least recently used are removed, but none that a run uses. They are in `work/providers` below the data directory.',
  },
} as const satisfies Record<string, Setting>;
