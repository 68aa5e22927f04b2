import { isCommonPassword } from '#domain/identity/passwords/common-passwords.ts';
import { isPluginSchema } from '#domain/plugins/model.ts';
import { isOutboundEntry } from '#domain/shared/outbound/outbound-policy.ts';
import {
  anyText,
  boolean,
  host,
  isAddressOrRange,
  listOf,
  mailSender,
  oneOf,
  origin,
  postgresUrl,
  type Setting,
  secretKeys,
  smtpServer,
  textLike,
  userName,
  wholeNumber,
} from './config-values.ts';
import { temporalSettings } from './temporal-settings.ts';
import { workerSettings } from './worker-settings.ts';

const port = wholeNumber(0, 65_535);
const email = textLike(/^[^\s@]{1,64}@[^\s@]{1,189}$/, 'an e-mail address');
const password = textLike(/^.{8,1024}$/s, 'at least 8 characters long').refine((text) => !isCommonPassword(text), {
  error: 'must not be one of the most common passwords',
});

/** Every setting of the service, in the order of docs/configuration.md. */
export const settings = {
  COORDINATOR_HOST: {
    schema: host,
    default: '127.0.0.1',
    description: 'Address that the API and the pages listen on.',
  },
  COORDINATOR_PORT: {
    schema: port,
    default: '8080',
    description: 'Port of the API and the pages. 0: the system chooses one.',
  },
  COORDINATOR_ADMIN_HOST: {
    schema: host,
    default: '127.0.0.1',
    description: 'Address of the admin listener (`/readyz/internal`, `/metrics`). Keep it on a trusted network.',
  },
  COORDINATOR_ADMIN_PORT: {
    schema: port,
    default: '9090',
    description: 'Port of the admin listener. 0: the system chooses one.',
  },
  COORDINATOR_BASE_URL: {
    schema: origin,
    default: null,
    description: 'Origin that clients use to reach the service. Default: the address that it listens on.',
  },
  COORDINATOR_ISSUER: {
    schema: origin,
    default: null,
    description:
      'Origin that the tokens of runs name as their issuer, and below which verifiers find `/.well-known/openid-configuration` ' +
      '([workload identity](workload-identity.md)). Every process needs the same. Default: `COORDINATOR_BASE_URL`; with `start` on ' +
      'loopback, the address that it listens on.',
  },
  COORDINATOR_SIGNING_KEY_DAYS: {
    schema: wholeNumber(1, 3650),
    default: '90',
    description: 'Days for which a key signs the tokens of runs, until the next one does.',
  },
  COORDINATOR_TRUSTED_PROXIES: {
    schema: listOf(isAddressOrRange, 'IP addresses and CIDR ranges, for example 10.0.0.0/8'),
    default: null,
    description:
      'Addresses and CIDR ranges of proxies, separated by commas, whose forwarded headers are trusted. Default: none.',
  },
  COORDINATOR_REQUESTS_PER_PRINCIPAL: {
    schema: wholeNumber(0, 100_000_000),
    default: '30000',
    description:
      'Requests per minute of one person with all service accounts that they answer for, over all processes. 0: no limit.',
  },
  COORDINATOR_REQUESTS_PER_ADDRESS: {
    schema: wholeNumber(0, 100_000_000),
    default: '3000',
    description: 'Requests per minute from one address without a valid credential. 0: no limit.',
  },
  COORDINATOR_GUESSES_PER_ACCOUNT: {
    schema: wholeNumber(0, 1_000_000),
    default: '10',
    description: 'Wrong passwords or tokens for one account after which an address is refused there. 0: no limit.',
  },
  COORDINATOR_GUESSES_PER_ADDRESS: {
    schema: wholeNumber(0, 1_000_000),
    default: '100',
    description: 'Wrong passwords or tokens after which an address is refused for every account. 0: no limit.',
  },
  COORDINATOR_GUESSES_MINUTES: {
    schema: wholeNumber(1, 1440),
    default: '5',
    description: 'Window in minutes over which wrong passwords and tokens are counted.',
  },
  COORDINATOR_OUTBOUND_ALLOW: {
    schema: listOf(isOutboundEntry, 'addresses, CIDR ranges, host names, "*.names" and file:// directories'),
    default: null,
    description:
      'Places outside the public Internet that the service may connect to for git, webhooks, chats and e-mail, separated by commas: ' +
      '`10.1.0.0/16`, `git.internal`, `*.corp.example` and, for development, `file:///srv/templates`. Connections without ' +
      'TLS are allowed to these only. Default: none.',
  },
  COORDINATOR_PLUGIN_SCHEMAS: {
    schema: listOf(isPluginSchema, 'names of schemas other than public, information_schema and pg_…'),
    default: null,
    description:
      "Schemas of the service's database in which the restoration of a plugin resource may look for the rows of the resource, " +
      'separated by commas ([plugins](plugins.md#restoring-a-resource)). Default: none.',
  },
  COORDINATOR_PLUGIN_DATABASE_URL: {
    schema: postgresUrl,
    default: null,
    isSecret: true,
    description:
      "URL of the service's database with a role that may read the schemas of `COORDINATOR_PLUGIN_SCHEMAS` and nothing else. Workers need " +
      'it to look for these rows ([plugins](plugins.md#restoring-a-resource)). Default: `start` makes such a role in an embedded database.',
  },
  COORDINATOR_SMTP_URL: {
    schema: smtpServer,
    default: null,
    isSecret: true,
    description:
      'Server that sends e-mail: `smtp://user:password@mail.example.com:587`, which must offer STARTTLS, or `smtps://…`. The API and ' +
      'the workers need it, and `COORDINATOR_BASE_URL` for links. Default: no e-mail is sent ([notifications](notifications.md#e-mail)).',
  },
  COORDINATOR_SMTP_FROM: {
    schema: mailSender,
    default: null,
    description: 'Sender of e-mail, such as `Delivery <delivery@example.com>`.',
  },
  COORDINATOR_DATA_DIR: {
    schema: anyText,
    default: '.coordinator',
    description: 'Directory for all files of this process; relative to the working directory.',
  },
  COORDINATOR_USER: {
    schema: userName,
    default: null,
    description:
      'Account that the API, git and the embedded servers run as when root starts the service. Default: an unused user ' +
      'id between 61184 and 65519, which is recorded in the data directory.',
  },
  COORDINATOR_SECRET_KEYS: {
    schema: secretKeys,
    default: null,
    isSecret: true,
    description:
      'Key ring `id:base64,…` of 32-byte keys, newest first. The first key encrypts, and each of them decrypts. Default: ' +
      'the file `secret-keys` in the data directory, which `start` generates (mode 0600).',
  },
  DATABASE_URL: {
    schema: postgresUrl,
    default: null,
    isSecret: true,
    description: 'URL of PostgreSQL 15-18. Default: `start` runs an embedded server.',
  },
  COORDINATOR_DATABASE_POOL: {
    schema: wholeNumber(1, 500),
    default: '10',
    description:
      'Maximum number of database connections of one process; with `start`, the default is 5. Signals between processes (LISTEN and NOTIFY) ' +
      'use one more.',
  },
  ...temporalSettings,
  ENABLE_ADMIN_BOOTSTRAP: {
    schema: boolean,
    default: 'false',
    description:
      'Whether `POST /bootstrap/admin` works while there is no user. `start` then creates no administrator itself.',
  },
  ADMIN_BOOTSTRAP_TOKEN: {
    schema: anyText,
    default: null,
    isSecret: true,
    description: 'Token that the bootstrap request must present. Required when bootstrap is enabled.',
  },
  COORDINATOR_ADMIN_EMAIL: {
    schema: email,
    default: null,
    description:
      'E-mail address of the administrator that the first `start` creates. Default: `admin@example.com` with the embedded ' +
      'database; with `DATABASE_URL`, no administrator is created.',
  },
  COORDINATOR_ADMIN_PASSWORD: {
    schema: password,
    default: null,
    isSecret: true,
    description:
      'Password of that administrator: at least 8 characters, and not one of the most common passwords. Default: `start` generates and prints one.',
  },
  COORDINATOR_SAMPLE: {
    schema: boolean,
    default: 'true',
    description: 'Whether the first `start` creates the sample organization and templates, and runs the templates.',
  },
  METRICS_ENABLED: {
    schema: boolean,
    default: null,
    description: 'Whether the admin listener serves `/metrics`. Default: only if that listener is on loopback.',
  },
  METRICS_BEARER_TOKEN: {
    schema: anyText,
    default: null,
    isSecret: true,
    description: 'Bearer token that `/metrics` requires, of the API and of workers. Default: none.',
  },
  ...workerSettings,
  AUDIT_RETENTION_DAYS: {
    schema: wholeNumber(1, 36_500),
    default: null,
    description: 'Days after which audit records are removed, a whole month at a time. Default: they are kept forever.',
  },
  DRIFT_SCAN_RETENTION_DAYS: {
    schema: wholeNumber(1, 36_500),
    default: '90',
    description: 'Days after which scans of drift monitors are removed. The latest 100 of each monitor are kept.',
  },
  DRIFT_FINDING_RETENTION_DAYS: {
    schema: wholeNumber(1, 36_500),
    default: '365',
    description: 'Days after which a drift finding that is resolved is removed, counted from when a scan saw it last.',
  },
  LOG_LEVEL: {
    schema: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Lowest severity that is logged.',
  },
} as const satisfies Record<string, Setting>;
