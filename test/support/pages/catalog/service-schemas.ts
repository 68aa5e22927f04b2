import { object, text } from './schema-parts.ts';

/** JSON Schemas of the templates' variables: together they have every kind of field that a form must show. */

const record = {
  oneOf: [
    {
      title: 'Address',
      ...object(
        {
          type: { const: 'A' },
          name: text('Without the zone.'),
          addresses: { type: 'array', items: { type: 'string', format: 'ipv4' }, minItems: 1 },
        },
        ['type', 'name', 'addresses'],
      ),
    },
    {
      title: 'Alias',
      ...object(
        { type: { const: 'CNAME' }, name: text('Without the zone.'), target: { type: 'string', format: 'hostname' } },
        ['type', 'name', 'target'],
      ),
    },
    {
      title: 'Text',
      ...object({ type: { const: 'TXT' }, name: text('Without the zone.'), text: { type: 'string', maxLength: 255 } }, [
        'type',
        'name',
        'text',
      ]),
    },
  ],
};

export const records = object(
  {
    zone: text('A zone that this account hosts.', { title: 'Zone', format: 'hostname' }),
    ttl: {
      type: 'integer',
      title: 'Time to live',
      description: 'In seconds.',
      minimum: 60,
      maximum: 86_400,
      default: 300,
    },
    records: { type: 'array', title: 'Records', items: record, maxItems: 200, default: [] },
  },
  ['zone'],
);

export const release = object(
  {
    image: text('The image with its digest or tag.', {
      title: 'Image',
      pattern: '^[a-z0-9./-]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})$',
      examples: ['registry.northwind.example/checkout:4.18.2'],
    }),
    replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 50, default: 3 },
    strategy: {
      title: 'Strategy',
      oneOf: [
        {
          title: 'Rolling',
          ...object({ kind: { const: 'rolling' }, surge_percent: { type: 'integer', minimum: 0, maximum: 100 } }, [
            'kind',
          ]),
        },
        {
          title: 'Canary',
          ...object(
            {
              kind: { const: 'canary' },
              steps: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 100 }, minItems: 1 },
            },
            ['kind', 'steps'],
          ),
        },
      ],
    },
    settings: {
      type: 'object',
      title: 'Settings',
      description: 'What the service reads from its environment.',
      additionalProperties: { type: 'string' },
      default: {},
    },
    signing_key: text('Signs the tokens of customers.', { title: 'Signing key', writeOnly: true, minLength: 32 }),
  },
  ['image'],
);

export const cdn = object(
  {
    domains: {
      type: 'array',
      title: 'Domains',
      items: { type: 'string', format: 'hostname' },
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
    },
    origin: text('Where answers come from.', { title: 'Origin', format: 'uri' }),
    waf: text('How requests are examined.', { title: 'Firewall', enum: ['off', 'count', 'block'], default: 'count' }),
  },
  ['domains', 'origin'],
);

export const topics = object(
  {
    cluster: text('The cluster of brokers.', { title: 'Cluster', enum: ['fleet-events', 'analytics'] }),
    topics: {
      type: 'object',
      title: 'Topics',
      additionalProperties: object(
        { partitions: { type: 'integer', minimum: 1, maximum: 256 }, retention_hours: { type: 'integer', minimum: 1 } },
        ['partitions'],
      ),
    },
  },
  ['cluster', 'topics'],
);

export const gateway = object(
  {
    depot: text('The code of the depot.', { title: 'Depot', pattern: '^[A-Z]{3}[0-9]$' }),
    firmware: text('The version to install.', { title: 'Firmware' }),
  },
  ['depot', 'firmware'],
);
