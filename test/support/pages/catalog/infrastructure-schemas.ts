import { object, text } from './schema-parts.ts';

/** JSON Schemas of the templates' variables: together they have every kind of field that a form must show. */

const regions = ['eu-central-1', 'eu-north-1', 'eu-west-1', 'us-east-1'];
const region = text('Where it is deployed.', { title: 'Region', enum: regions, default: 'eu-central-1' });
const tags = {
  type: 'object',
  description: 'Labels that every resource gets, for cost reports.',
  additionalProperties: { type: 'string' },
  default: {},
};

export const network = object(
  {
    region,
    cidr: text('The addresses of the network. They must not overlap with a peered network.', {
      title: 'Address range',
      pattern: '^[0-9.]+/[0-9]{1,2}$',
      default: '10.20.0.0/16',
      examples: ['10.20.0.0/16'],
    }),
    zones: {
      type: 'integer',
      title: 'Availability zones',
      description: 'One private and one public subnet in each.',
      minimum: 1,
      maximum: 3,
      default: 3,
    },
    nat: text('How private subnets reach the Internet.', {
      title: 'NAT gateways',
      enum: ['none', 'single', 'per_zone'],
      default: 'single',
    }),
    flow_logs: {
      type: 'boolean',
      title: 'Flow logs',
      description: 'Keeps who talked to whom for 30 days.',
      default: true,
    },
    tags,
  },
  ['cidr'],
);

export const cluster = object(
  {
    region,
    version: text('The minor version of Kubernetes.', {
      title: 'Kubernetes',
      enum: ['1.34', '1.33', '1.32'],
      default: '1.34',
    }),
    private_api: { type: 'boolean', title: 'Private API only', default: true },
    node_pools: {
      type: 'array',
      title: 'Node pools',
      description: 'Groups of machines of one kind.',
      minItems: 1,
      maxItems: 8,
      items: object(
        {
          name: text('Unique in the cluster.', { pattern: '^[a-z][a-z0-9-]{0,30}$' }),
          machine: text('The type of machine.', { enum: ['m7i.large', 'm7i.2xlarge', 'c7i.4xlarge', 'g6.xlarge'] }),
          minimum: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
          maximum: { type: 'integer', minimum: 1, maximum: 100, default: 3 },
          spot: { type: 'boolean', description: 'Cheaper machines that may be taken away.', default: false },
        },
        ['name', 'machine'],
      ),
    },
    tags,
  },
  ['node_pools'],
);

export const database = object(
  {
    region,
    size: text('Memory and processors of the primary.', {
      title: 'Size',
      enum: ['small', 'medium', 'large', 'xlarge'],
      default: 'small',
    }),
    storage_gib: {
      type: 'integer',
      title: 'Storage',
      description: 'In GiB; it can only grow.',
      minimum: 20,
      maximum: 16_384,
      default: 50,
    },
    replicas: { type: 'integer', title: 'Read replicas', minimum: 0, maximum: 5, default: 0 },
    backup: {
      ...object({
        retention_days: { type: 'integer', title: 'Kept for days', minimum: 1, maximum: 35, default: 7 },
        window: text('In UTC.', {
          title: 'Window',
          pattern: '^[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]$',
          default: '02:00-03:00',
        }),
      }),
      title: 'Backups',
    },
    administrator_password: text('At least 16 characters. Nobody can read it again.', {
      title: 'Administrator password',
      writeOnly: true,
      minLength: 16,
    }),
  },
  ['administrator_password'],
);

export const bucket = object(
  {
    name: text('Unique in the whole world.', { title: 'Name', pattern: '^[a-z0-9][a-z0-9-]{2,62}$' }),
    region,
    versioning: { type: 'boolean', title: 'Keep earlier versions', default: true },
    expire_after_days: { type: ['integer', 'null'], title: 'Expires after days', minimum: 1, default: null },
  },
  ['name'],
);
