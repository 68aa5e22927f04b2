import type { JsonValue } from '#domain/shared/values/json.ts';
import type { TemplateKey } from '../catalog/templates.ts';
import { Random } from '../random.ts';

/** A resource of an instance, as plans and states describe it. */
export interface Resource {
  readonly module: string | null;
  readonly type: string;
  readonly name: string;
  readonly key: string | number | null;
  readonly attributes: Readonly<Record<string, JsonValue>>;
}

const secret = { sensitive: true };
const zones = ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'];

/** What each template deploys. `name` is the instance's. */
const blueprints: Readonly<Record<TemplateKey, (name: string, random: Random) => Resource[]>> = {
  network: (name, random) => [
    plain('aws_vpc', 'this', {
      cidr_block: '10.20.0.0/16',
      enable_dns_hostnames: true,
      id: `vpc-${random.hex(17)}`,
      tags: { Name: name, owner: 'platform' },
    }),
    plain('aws_internet_gateway', 'this', { id: `igw-${random.hex(17)}` }),
    ...zones.flatMap((zone, index) => [
      inModule('module.subnets', 'aws_subnet', 'private', zone, {
        cidr_block: `10.20.${index}.0/24`,
        availability_zone: zone,
        map_public_ip_on_launch: false,
        tags: { Name: `${name}-private-${zone}` },
      }),
      inModule('module.subnets', 'aws_subnet', 'public', zone, {
        cidr_block: `10.20.${index + 100}.0/24`,
        availability_zone: zone,
        map_public_ip_on_launch: true,
        tags: { Name: `${name}-public-${zone}` },
      }),
      inModule('module.nat', 'aws_nat_gateway', 'this', zone, {
        connectivity_type: 'public',
        allocation_id: `eipalloc-${random.hex(17)}`,
      }),
      inModule('module.nat', 'aws_eip', 'this', zone, { public_ip: `192.0.2.${10 + index}`, domain: 'vpc' }),
      keyed('aws_route_table_association', 'private', index, { route_table_id: `rtb-${random.hex(17)}` }),
    ]),
    plain('aws_flow_log', 'this', {
      traffic_type: 'ALL',
      log_destination_type: 'cloud-watch-logs',
      max_aggregation_interval: 60,
    }),
    plain('aws_cloudwatch_log_group', 'flow', { name: `/vpc/${name}`, retention_in_days: 30 }),
  ],
  cluster: (name, random) => [
    plain('aws_eks_cluster', 'this', {
      name,
      version: '1.34',
      endpoint: `https://${random.hex(32).toUpperCase()}.gr7.eu-central-1.eks.amazonaws.com`,
      enabled_cluster_log_types: ['api', 'audit'],
      vpc_config: { endpoint_private_access: true, endpoint_public_access: false },
    }),
    ...['general', 'batch', 'gpu'].flatMap((pool) => [
      inModule('module.pools', 'aws_eks_node_group', 'this', pool, {
        node_group_name: pool,
        instance_types: [pool === 'gpu' ? 'g6.xlarge' : 'm7i.2xlarge'],
        scaling_config: { min_size: 1, max_size: 12, desired_size: 3 },
        labels: { pool },
      }),
      inModule('module.pools', 'aws_launch_template', 'this', pool, {
        name_prefix: `${name}-${pool}`,
        user_data: secret,
        metadata_options: { http_tokens: 'required' },
      }),
      inModule('module.pools', 'aws_iam_role', 'node', pool, {
        name: `${name}-${pool}-node`,
        assume_role_policy: assumeRole('ec2.amazonaws.com'),
      }),
    ]),
    plain('aws_iam_role', 'cluster', { name: `${name}-cluster`, assume_role_policy: assumeRole('eks.amazonaws.com') }),
    keyed('aws_eks_addon', 'this', 'coredns', { addon_version: 'v1.12.4-eksbuild.1' }),
    keyed('aws_eks_addon', 'this', 'vpc-cni', { addon_version: 'v1.20.3-eksbuild.1' }),
    plain('aws_kms_key', 'secrets', { description: `Secrets of ${name}`, enable_key_rotation: true }),
    plain('aws_security_group', 'nodes', {
      name: `${name}-nodes`,
      ingress: [{ from_port: 443, to_port: 443, protocol: 'tcp', cidr_blocks: ['10.20.0.0/16'] }],
    }),
  ],
  database: (name, random) => [
    plain('aws_db_instance', 'primary', {
      identifier: name,
      engine: 'postgres',
      engine_version: '18.1',
      instance_class: 'db.r7g.large',
      allocated_storage: 400,
      password: secret,
      backup_retention_period: 7,
      deletion_protection: true,
      endpoint: `${name}.${random.hex(12)}.eu-central-1.rds.amazonaws.com:5432`,
    }),
    keyed('aws_db_instance', 'replica', 0, {
      identifier: `${name}-replica-0`,
      replicate_source_db: name,
      instance_class: 'db.r7g.large',
    }),
    plain('aws_db_parameter_group', 'this', {
      family: 'postgres18',
      parameter: [{ name: 'log_min_duration_statement', value: '250' }],
    }),
    plain('aws_db_subnet_group', 'this', {
      name,
      subnet_ids: [`subnet-${random.hex(17)}`, `subnet-${random.hex(17)}`],
    }),
    plain('random_password', 'administrator', { length: 32, special: true, result: secret }),
    plain('aws_secretsmanager_secret', 'administrator', { name: `${name}/administrator`, recovery_window_in_days: 7 }),
    plain('aws_cloudwatch_metric_alarm', 'storage', { alarm_name: `${name}-free-storage`, threshold: 10_737_418_240 }),
  ],
  records: () => [
    ...['www', 'shop', 'api', 'status', 'mail'].map((label) =>
      keyed('aws_route53_record', 'this', label, {
        name: `${label}.northwind.example`,
        type: 'A',
        ttl: 300,
        records: ['192.0.2.10', '192.0.2.11'],
      }),
    ),
    keyed('aws_route53_record', 'text', '_dmarc', {
      name: '_dmarc.northwind.example',
      type: 'TXT',
      ttl: 300,
      records: ['v=DMARC1; p=reject; rua=mailto:dmarc@northwind.example'],
    }),
  ],
  release: (name) => [
    plain('deployment', name, {
      image: `registry.northwind.example/${name}:4.18.1`,
      replicas: 6,
      settings: { LOG_LEVEL: 'info', CURRENCY: 'EUR' },
      signing_key: secret,
    }),
    plain('service', name, { port: 443, target_port: 8443 }),
    plain('autoscaler', name, { minimum: 6, maximum: 30, target_cpu_percent: 60 }),
    plain('budget', name, { objective: 0.999, window: '30d' }),
  ],
  flags: () =>
    ['new_checkout', 'dark_mode', 'gift_cards', 'one_click'].map((flag) =>
      plain('flag', flag, { share: 25, sticky: true }),
    ),
  cdn: (name, random) => [
    plain('aws_cloudfront_distribution', 'this', {
      aliases: ['shop.northwind.example'],
      price_class: 'PriceClass_100',
      http_version: 'http2and3',
      id: `E${random.hex(13).toUpperCase()}`,
      comment: name,
    }),
    plain('aws_wafv2_web_acl', 'this', {
      name,
      scope: 'CLOUDFRONT',
      rule: [{ name: 'rate', action: 'block', limit: 2000 }],
    }),
    plain('aws_acm_certificate', 'this', { domain_name: 'shop.northwind.example', validation_method: 'DNS' }),
    plain('aws_cloudfront_cache_policy', 'assets', { default_ttl: 86_400, max_ttl: 31_536_000 }),
  ],
  bucket: (name) => [
    plain('aws_s3_bucket', 'this', { bucket: name, force_destroy: false }),
    plain('aws_s3_bucket_versioning', 'this', { status: 'Enabled' }),
    plain('aws_s3_bucket_lifecycle_configuration', 'this', { rule: [{ id: 'expire', days: 400 }] }),
    plain('aws_s3_bucket_public_access_block', 'this', { block_public_acls: true, restrict_public_buckets: true }),
  ],
  topics: () =>
    ['positions', 'deliveries', 'temperatures', 'invoices', 'invoices.dead-letter'].map((topic) =>
      keyed('kafka_topic', 'this', topic, {
        name: topic,
        partitions: 48,
        replication_factor: 3,
        config: { 'retention.ms': '259200000', 'cleanup.policy': 'delete' },
      }),
    ),
  gateway: () =>
    Array.from({ length: 14 }, (_, index) =>
      plain('gateway', `osl2-${String(index + 1).padStart(2, '0')}`, { firmware: '2026.11.2', certificate: secret }),
    ),
  machine: (name) => [
    plain('aws_instance', 'this', { ami: 'ami-0abc', instance_type: 't3.small', tags: { Name: name } }),
  ],
};

function plain(type: string, name: string, attributes: Resource['attributes']): Resource {
  return { module: null, type, name, key: null, attributes };
}

function keyed(type: string, name: string, key: string | number, attributes: Resource['attributes']): Resource {
  return { module: null, type, name, key, attributes };
}

function inModule(
  module: string,
  type: string,
  name: string,
  key: string,
  attributes: Resource['attributes'],
): Resource {
  return { module, type, name, key, attributes };
}

function assumeRole(service: string): string {
  const statement = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: service } };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] }, null, 2);
}

/** What an instance of a template holds once it is deployed. */
export function resourcesOf(template: TemplateKey, name: string): Resource[] {
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) | 0;
  return blueprints[template](name, new Random(seed));
}

export function addressOf({ module, type, name, key }: Resource): string {
  const index = key === null ? '' : `[${JSON.stringify(key)}]`;
  return `${module === null ? '' : `${module}.`}${type}.${name}${index}`;
}

/** The state file that a tool would write about these resources. Masked values get a secret in their place. */
export function stateOf(
  resources: readonly Resource[],
  serial: number,
  outputs: Readonly<Record<string, JsonValue>>,
): Buffer {
  const state = {
    version: 4,
    terraform_version: '1.10.6',
    serial,
    lineage: '3f1c8a52-6f0e-4f8a-9a55-0a7f4a6f2b10',
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { value, type: 'string' }])),
    resources: resources.map(({ module, type, name, key, attributes }) => ({
      ...(module && { module }),
      mode: 'managed',
      type,
      name,
      provider: `provider["registry.opentofu.org/hashicorp/${type.split('_')[0]}"]`,
      instances: [{ schema_version: 0, ...(key !== null && { index_key: key }), attributes }],
    })),
    check_results: null,
  };
  return Buffer.from(JSON.stringify(state, null, 2));
}
