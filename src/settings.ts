import type { z } from 'zod';
import { isCommonPassword } from '#domain/identity/passwords/common-passwords.ts';
import { isOutboundEntry } from '#domain/shared/outbound/outbound-policy.ts';
import {
  anyText,
  boolean,
  fileContent,
  isAddressOrRange,
  listOf,
  oneOf,
  origin,
  postgresUrl,
  secretKeys,
  textLike,
  wholeNumber,
} from './config-values.ts';

export type Setting = {
  /** Parses the text of the environment variable. */
  readonly schema: z.ZodType<unknown, string>;
  /** As it would be written in the environment; null: none. */
  readonly default: string | null;
  readonly description: string;
  /** Also read from the file that the variable with `_FILE` behind its name names. */
  readonly isSecret?: true;
};

const host = textLike(/^(?=.{1,253}$)[A-Za-z0-9_.:-]+$/, 'a host name or an IP address without a port');
const port = wholeNumber(0, 65_535);
const email = textLike(/^[^\s@]{1,64}@[^\s@]{1,189}$/, 'an e-mail address');
const password = textLike(/^.{8,1024}$/s, 'at least 8 characters long').refine((text) => !isCommonPassword(text), {
  error: 'must not be one of the most common passwords',
});
const userName = textLike(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/, 'the name of an operating-system user');
const isPoolName = (name: string) => /^[a-z0-9][a-z0-9._-]{0,62}$/.test(name);

/** Every setting of the service, in the order of docs/configuration.md. */
export const settings = {
  COORDINATOR_HOST: {
    schema: host,
    default: '127.0.0.1',
    description: 'Address on which the API and the pages listen.',
  },
  COORDINATOR_PORT: {
    schema: port,
    default: '8080',
    description: 'Port of the API and the pages; 0 lets the system choose one.',
  },
  COORDINATOR_ADMIN_HOST: {
    schema: host,
    default: '127.0.0.1',
    description: 'Address of the admin listener (`/readyz/internal`, `/metrics`); keep it on a trusted network.',
  },
  COORDINATOR_ADMIN_PORT: {
    schema: port,
    default: '9090',
    description: 'Port of the admin listener; 0 lets the system choose one.',
  },
  COORDINATOR_BASE_URL: {
    schema: origin,
    default: null,
    description: 'Origin under which clients reach the service; without it, the address on which it listens.',
  },
  COORDINATOR_TRUSTED_PROXIES: {
    schema: listOf(isAddressOrRange, 'IP addresses and CIDR ranges, for example 10.0.0.0/8'),
    default: null,
    description: 'Addresses and CIDR ranges, separated by commas, whose forwarded headers count; without it, none.',
  },
  COORDINATOR_REQUESTS_PER_PRINCIPAL: {
    schema: wholeNumber(0, 100_000_000),
    default: '30000',
    description: 'Requests a minute of one user or service account, over all processes; 0: no limit.',
  },
  COORDINATOR_REQUESTS_PER_ADDRESS: {
    schema: wholeNumber(0, 100_000_000),
    default: '3000',
    description: 'Requests a minute from one address without a credential that counts; 0: no limit.',
  },
  COORDINATOR_GUESSES_PER_ACCOUNT: {
    schema: wholeNumber(0, 1_000_000),
    default: '10',
    description: 'Wrong passwords or tokens after which an address is refused at one account; 0: no limit.',
  },
  COORDINATOR_GUESSES_PER_ADDRESS: {
    schema: wholeNumber(0, 1_000_000),
    default: '100',
    description: 'Wrong passwords or tokens after which an address is refused at every account; 0: no limit.',
  },
  COORDINATOR_GUESSES_MINUTES: {
    schema: wholeNumber(1, 1440),
    default: '5',
    description: 'Minutes over which wrong passwords and tokens are counted, and after which they are forgotten.',
  },
  COORDINATOR_OUTBOUND_ALLOW: {
    schema: listOf(isOutboundEntry, 'addresses, CIDR ranges, host names, "*.names" and file:// directories'),
    default: null,
    description:
      'Places beside the public Internet that the service may reach for git and webhooks, separated by commas: ' +
      '`10.1.0.0/16`, `git.internal`, `*.corp.example`; and, for development, `file:///srv/templates`. Only these may ' +
      'be reached without TLS; without it, none.',
  },
  COORDINATOR_DATA_DIR: {
    schema: anyText,
    default: '.coordinator',
    description: 'Directory of everything that this process keeps on disk; relative to the working directory.',
  },
  COORDINATOR_USER: {
    schema: userName,
    default: null,
    description:
      'Account as which the API, git and the embedded servers run where the service is started as root; without it, an ' +
      'unused user id between 61184 and 65519, which is kept in the data directory.',
  },
  COORDINATOR_SECRET_KEYS: {
    schema: secretKeys,
    default: null,
    isSecret: true,
    description:
      'Key ring `id:base64,…` of 32-byte keys, newest first: the first encrypts, all decrypt. Without it, the file ' +
      '`secret-keys` of the data directory, which `start` generates (mode 0600).',
  },
  DATABASE_URL: {
    schema: postgresUrl,
    default: null,
    isSecret: true,
    description: 'URL of PostgreSQL 15-18; without it, `start` runs an embedded one.',
  },
  COORDINATOR_DATABASE_POOL: {
    schema: wholeNumber(1, 500),
    default: '10',
    description: 'Most connections to the database that one process opens.',
  },
  TEMPORAL_ADDRESS: {
    schema: textLike(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}$/, 'host:port, for example temporal:7233'),
    default: null,
    description: 'host:port of the Temporal server; without it, `start` runs a development server.',
  },
  TEMPORAL_NAMESPACE: {
    schema: textLike(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/, 'the name of a Temporal namespace'),
    default: 'default',
    description: 'Temporal namespace of this installation.',
  },
  TEMPORAL_API_KEY: {
    schema: anyText,
    default: null,
    isSecret: true,
    description: 'API key for Temporal Cloud; implies TLS.',
  },
  TEMPORAL_TLS: {
    schema: boolean,
    default: null,
    description: 'Whether to speak TLS with Temporal; without it, TLS if a certificate or an API key is given.',
  },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    schema: fileContent,
    default: null,
    description: "PEM file of the authority that signed the Temporal server's certificate.",
  },
  TEMPORAL_TLS_SERVER_NAME: {
    schema: host,
    default: null,
    description: "Name to expect in the Temporal server's certificate.",
  },
  TEMPORAL_TLS_CLIENT_CERT_PATH: {
    schema: fileContent,
    default: null,
    description: 'PEM file of the client certificate for Temporal.',
  },
  TEMPORAL_TLS_CLIENT_KEY_PATH: {
    schema: fileContent,
    default: null,
    description: "PEM file of the client certificate's private key.",
  },
  ENABLE_ADMIN_BOOTSTRAP: {
    schema: boolean,
    default: 'false',
    description: 'Whether `POST /bootstrap/admin` works while there is no user; `start` then makes none itself.',
  },
  ADMIN_BOOTSTRAP_TOKEN: {
    schema: anyText,
    default: null,
    isSecret: true,
    description: 'Token that the bootstrap request presents; required where bootstrap is enabled.',
  },
  COORDINATOR_ADMIN_EMAIL: {
    schema: email,
    default: null,
    description:
      'Administrator whom the first `start` makes; without it, `admin@example.com` with the embedded database, and ' +
      'nobody where `DATABASE_URL` is given.',
  },
  COORDINATOR_ADMIN_PASSWORD: {
    schema: password,
    default: null,
    isSecret: true,
    description:
      "That administrator's password (at least 8 characters, none of the most common ones); without it, one is generated and printed.",
  },
  COORDINATOR_SAMPLE: {
    schema: boolean,
    default: 'true',
    description: 'Whether the first `start` makes the sample organization and templates, and runs them.',
  },
  METRICS_ENABLED: {
    schema: boolean,
    default: null,
    description: 'Whether the admin listener serves `/metrics`; without it, only where that listener is on loopback.',
  },
  METRICS_BEARER_TOKEN: {
    schema: anyText,
    default: null,
    isSecret: true,
    description: 'Bearer token that `/metrics` demands; without it, none.',
  },
  WORKER_POOLS: {
    schema: listOf(isPoolName, 'pool names (lowercase letters, digits, ".", "_" and "-")'),
    default: 'default',
    description: 'Pools, separated by commas, whose runs this worker executes.',
  },
  WORKER_CONCURRENCY: {
    schema: wholeNumber(1, 1000),
    default: null,
    description:
      'Most executions that this worker has at the same time in each pool; without it, two for each core and no more than one for each 512 MiB of memory, shared among its pools.',
  },
  WORKER_DRAIN_SECONDS: {
    schema: wholeNumber(0, 86_400),
    default: '10',
    description:
      'How long a worker that is told to stop lets what it executes go on; then plans are handed back and applies are interrupted. Give your orchestrator a minute more.',
  },
  COORDINATOR_EXECUTOR_ISOLATION: {
    schema: oneOf(['sandbox', 'auto', 'none']),
    default: 'sandbox',
    description:
      'How template code is contained. `sandbox`: a worker that cannot contain it does not start. `auto`: it is contained where that is possible; `start` uses this, and says when it is not. `none`: it runs uncontained, with all rights of the user that the executor host runs as.',
  },
  COORDINATOR_EXECUTOR_USER: {
    schema: userName,
    default: null,
    description:
      "Operating-system user of the executor host, which starts the sandboxes; only for a worker that runs as root. Without it, an unused user id, always the same for a data directory, where the worker is root; else the worker's own user.",
  },
  COORDINATOR_EXECUTOR_MEMORY_MB: {
    schema: wholeNumber(64, 1_048_576),
    default: '2048',
    description: 'Memory of one attempt, files in memory included; more ends it (`memory_limit`).',
  },
  COORDINATOR_EXECUTOR_DISK_MB: {
    schema: wholeNumber(16, 1_048_576),
    default: '1024',
    description:
      'What one attempt may write, to all of its directories together; more ends it (`directory_limit`). It is kept in memory, within the limit above.',
  },
  COORDINATOR_EXECUTOR_CPUS: {
    schema: wholeNumber(1, 1024),
    default: null,
    description:
      'Processors that one attempt may use at a time, where the worker has control groups; without it, half of those of the machine, at least one.',
  },
  COORDINATOR_EXECUTOR_CPU_SECONDS: {
    schema: wholeNumber(1, 604_800),
    default: '7200',
    description: 'Processor time of one attempt; more ends it (`cpu_limit`).',
  },
  COORDINATOR_EXECUTOR_PROCESSES: {
    schema: wholeNumber(16, 65_536),
    default: '512',
    description: 'Processes of one attempt at a time; more ends it (`process_limit`).',
  },
  COORDINATOR_EXECUTOR_OPEN_FILES: {
    schema: wholeNumber(64, 1_048_576),
    default: '4096',
    description: 'Files that one process of an attempt may have open; more ends the attempt (`open_files_limit`).',
  },
  COORDINATOR_EXECUTOR_PATHS: {
    schema: listOf((path) => path.startsWith('/') && !path.includes('\0'), 'absolute paths of directories'),
    default: null,
    description:
      'Directories, separated by commas, that sandboxes see read-only beside `/usr` and its like: `/opt/tools`, `/nix/store`.',
  },
  COORDINATOR_EXECUTOR_DENIED: {
    schema: listOf(isOutboundEntry, 'names, addresses and CIDR ranges'),
    default: null,
    description:
      'Names, addresses and ranges, separated by commas, that templates never reach, beside those of the database, of Temporal and of this machine: the addresses of the API, for instance.',
  },
  COORDINATOR_PROVIDER_MIRROR: {
    schema: textLike(/^\//, 'the absolute path of a directory'),
    default: null,
    description:
      'Directory of providers in the layout of a file system mirror of OpenTofu; sandboxes see it read-only.',
  },
  COORDINATOR_PROVIDER_NETWORK_MIRROR: {
    schema: textLike(/^https:\/\/[^\s"]+\/$/, 'an https URL that ends in "/"'),
    default: null,
    description: 'URL of a network mirror for providers. The egress policy of a pool must let it be reached.',
  },
  COORDINATOR_PROVIDER_DIRECT: {
    schema: boolean,
    default: null,
    description: 'Whether providers may come from their own registries; without it, only where neither mirror is set.',
  },
  AUDIT_RETENTION_DAYS: {
    schema: wholeNumber(1, 36_500),
    default: null,
    description: 'Days after which audit records are removed, a month at a time; without it, they are kept for good.',
  },
  LOG_LEVEL: {
    schema: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Least severity that is logged.',
  },
} as const satisfies Record<string, Setting>;
