import type { JsonValue } from '#domain/shared/values/json.ts';
import type { PersonKey } from '../people.ts';
import type { TeamKey } from '../tenants.ts';
import * as infrastructure from './infrastructure-schemas.ts';
import * as services from './service-schemas.ts';

export interface TemplatePlan {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Markdown. */
  readonly readme?: string;
  /** Null: a template of the whole installation. */
  readonly team: TeamKey | null;
  readonly by: PersonKey;
  readonly tool: 'opentofu' | 'command';
  readonly variables: object;
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly sensitive?: boolean }>>;
  readonly more?: object;
  /** Oldest first, with what changed. */
  readonly versions: readonly (readonly [version: string, changelog: string])[];
  readonly yanked?: string;
  readonly isArchived?: boolean;
  /** What a run is given. */
  readonly example: Readonly<Record<string, JsonValue>>;
}

const approval = { approval: { required: 1, when: 'destroys' } };

export const templatePlans = {
  network: {
    name: 'VPC network',
    description:
      'A network with public and private subnets, NAT and flow logs.\n\nUse one for each account. Peering and transit gateways are requested from the platform team.',
    tags: ['aws', 'network', 'tier-1'],
    readme:
      '# What you get\n\n- a VPC with a public and a private subnet in each zone\n- NAT gateways: one, one for each zone, or none\n- flow logs, kept for **30 days**\n\nAsk in `#platform` before you peer it. The [addressing plan](https://wiki.example.com/addresses) lists free ranges.\n\n| size | addresses | for |\n|---|---|---|\n| `/16` | 65,536 | production |\n| `/20` | 4,096 | everything else |\n',
    team: 'platform',
    by: 'owner',
    tool: 'opentofu',
    variables: infrastructure.network,
    outputs: {
      network_id: { description: 'The id of the network' },
      private_subnet_ids: { description: 'One for each zone' },
      nat_addresses: { description: 'What other companies have to allow' },
    },
    more: approval,
    versions: [
      ['1.0.0', 'The first version.'],
      ['1.1.0', 'Adds flow logs, which are on by default.'],
      ['1.2.0', 'NAT gateways may be one for each zone.'],
      [
        '2.0.0',
        'Subnets are keyed by zone instead of counted.\n\n**Moves every subnet**: plan first, and expect `moved` entries.',
      ],
      ['2.1.0', 'IPv6 for public subnets.'],
    ],
    yanked: '1.1.0',
    example: { cidr: '10.20.0.0/16', zones: 3, nat: 'per_zone' },
  },
  cluster: {
    name: 'Kubernetes cluster',
    description: 'A managed cluster with node pools, network policies and logs that reach the observability stack.',
    tags: ['aws', 'kubernetes', 'compute'],
    team: null,
    by: 'admin',
    tool: 'opentofu',
    variables: infrastructure.cluster,
    outputs: {
      endpoint: { description: 'The address of the API' },
      kubeconfig: { description: 'For break glass only', sensitive: true },
    },
    more: { timeouts: { plan: '15m', apply: '2h', approval: 'P3D' }, pool: 'cloud' },
    versions: [
      ['3.0.0', 'Kubernetes 1.32.'],
      ['3.1.0', 'Kubernetes 1.33, and pools of spot machines.'],
      ['3.2.0', 'Kubernetes 1.34.'],
      ['3.2.1', 'Drains nodes before it replaces them.'],
    ],
    example: { version: '1.34', node_pools: [{ name: 'general', machine: 'm7i.2xlarge', minimum: 3, maximum: 12 }] },
  },
  database: {
    name: 'PostgreSQL database',
    description:
      'A database with backups, encryption and, if wanted, read replicas. The password is rotated with a new version.',
    tags: ['aws', 'database', 'tier-1'],
    team: null,
    by: 'admin',
    tool: 'opentofu',
    variables: infrastructure.database,
    outputs: {
      host: { description: 'Where it listens' },
      port: { description: 'The port' },
      connection_string: { description: 'With the password', sensitive: true },
    },
    more: approval,
    versions: [
      ['1.4.0', 'PostgreSQL 17.'],
      ['1.5.0', 'Backups may be kept for 35 days.'],
      ['2.0.0', 'PostgreSQL 18. Replaces the parameter group.'],
    ],
    example: { size: 'large', storage_gib: 400, replicas: 1, administrator_password: 'correct-horse-battery-staple' },
  },
  records: {
    name: 'DNS records',
    description: 'Records of a zone. Records that the template does not list are left alone.',
    tags: ['dns', 'network'],
    team: null,
    by: 'admin',
    tool: 'opentofu',
    variables: services.records,
    outputs: { names: { description: 'The full names' } },
    versions: [
      ['0.9.0', 'A release candidate.'],
      ['1.0.0', 'Address, alias and text records.'],
    ],
    example: {
      zone: 'northwind.example',
      records: [{ type: 'A', name: 'www', addresses: ['192.0.2.10', '192.0.2.11'] }],
    },
  },
  release: {
    name: 'Service release',
    description: 'Rolls a container image out, step by step, and rolls back when health checks fail.',
    tags: ['release', 'kubernetes'],
    team: 'payments',
    by: 'maintainer',
    tool: 'command',
    variables: services.release,
    outputs: {
      url: { description: 'Where the service answers' },
      revision: { description: 'The revision of the deployment' },
    },
    more: { timeouts: { plan: '5m', apply: '45m' }, retry_safe: true },
    versions: [
      ['4.0.0', 'Canary steps.'],
      ['4.1.0', 'Waits for the error budget before each step.'],
      ['4.2.0', 'Signs tokens with a key of its own.'],
    ],
    example: { image: 'registry.northwind.example/checkout:4.18.2', replicas: 6 },
  },
  flags: {
    name: 'Feature flags',
    description: 'Turns features of the shop on and off for shares of its customers.',
    tags: ['release', 'shop'],
    team: 'storefront',
    by: 'owner',
    tool: 'command',
    variables: {
      type: 'object',
      properties: {
        flags: { type: 'object', additionalProperties: { type: 'integer', minimum: 0, maximum: 100 }, default: {} },
      },
    },
    outputs: {},
    versions: [
      ['1.0.0', ''],
      ['1.0.1', 'Keeps flags that it does not know.'],
    ],
    example: { flags: { new_checkout: 25, dark_mode: 100 } },
  },
  cdn: {
    name: 'CDN distribution',
    description: 'Caches the shop close to its customers, with a firewall for web applications.',
    tags: ['aws', 'network', 'shop'],
    team: 'storefront',
    by: 'owner',
    tool: 'opentofu',
    variables: services.cdn,
    outputs: { domain: { description: 'Where to point the alias' } },
    versions: [
      ['1.0.0', 'The first version.'],
      ['1.1.0', 'Counts before it blocks.'],
    ],
    example: { domains: ['shop.northwind.example'], origin: 'https://origin.northwind.example', waf: 'block' },
  },
  bucket: {
    name: 'Object storage bucket',
    description: 'A private bucket with encryption, versions and rules for how long objects are kept.',
    tags: ['aws', 'storage'],
    team: null,
    by: 'admin',
    tool: 'opentofu',
    variables: infrastructure.bucket,
    outputs: { arn: { description: 'The name in policies' } },
    versions: [
      ['1.0.0', 'The first version.'],
      ['1.0.1', 'Blocks public access for the account as well.'],
      ['1.1.0-rc.1', 'Replication, to be tried.'],
    ],
    example: { name: 'northwind-raw', versioning: true, expire_after_days: 400 },
  },
  topics: {
    name: 'Kafka topics',
    description: 'Topics of a cluster of brokers, with partitions and retention.',
    tags: ['kafka', 'data'],
    team: 'data',
    by: 'fjordOwner',
    tool: 'opentofu',
    variables: services.topics,
    outputs: { topics: { description: 'Their names' } },
    versions: [['1.0.0', 'The first version.']],
    example: { cluster: 'analytics', topics: { positions: { partitions: 48, retention_hours: 72 } } },
  },
  gateway: {
    name: 'Depot gateway',
    description: 'Installs firmware on the gateways of a depot, one after the other.',
    tags: ['edge'],
    team: 'fleet',
    by: 'fjordOwner',
    tool: 'command',
    variables: services.gateway,
    outputs: { installed: { description: 'How many gateways have the firmware' } },
    more: { pool: 'edge' },
    versions: [
      ['0.3.0', ''],
      ['0.4.0', 'Installs at most ten at a time.'],
    ],
    example: { depot: 'OSL2', firmware: '2026.11.3' },
  },
  machine: {
    name: 'Virtual machine (retired)',
    description: 'Single machines without a cluster. Use the Kubernetes cluster instead.',
    tags: ['compute', 'deprecated'],
    team: null,
    by: 'admin',
    tool: 'opentofu',
    variables: { type: 'object', properties: {} },
    outputs: {},
    versions: [['1.0.0', 'The last version.']],
    isArchived: true,
    example: {},
  },
} as const satisfies Record<string, TemplatePlan>;

export type TemplateKey = keyof typeof templatePlans;
