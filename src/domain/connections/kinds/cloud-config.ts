import { z } from 'zod';
import { canBeUrl, field } from './kind.ts';

/**
 * The config of a connection to a cloud, which readers can see. With `workload_identity`, the cloud trusts the service, and nothing secret
 * is stored.
 */

/** Services that imitate AWS name their regions as they like. */
const region = z.string().regex(/^[a-z0-9-]{1,40}$/, { error: 'expected a region such as "eu-central-1"' });
const guid = z.guid({ error: 'expected an id such as "019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11"' });
const Audience = z
  .string()
  .max(255)
  .regex(/^[\x21-\x7e]+$/, { error: 'expected printable ASCII characters without spaces' });
const audience = <Schema extends z.ZodType>(schema: Schema) =>
  field(schema, 'Audience', 'For whom the token is: its claim aud.');
/** The member that replaces stored keys. */
const identity = <Schema extends z.ZodType>(schema: Schema) =>
  field(schema, 'Workload identity', 'The cloud trusts the tokens of the service, and nothing secret is stored.');
const name = z.string().regex(/^[A-Za-z0-9_./-]{1,128}$/, { error: 'expected letters, digits and "_./-"' });

const AwsIdentity = z.strictObject({
  role_arn: field(
    z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, {
      error: 'expected the ARN of a role, such as "arn:aws:iam::123456789012:role/deploy"',
    }),
    'Role ARN',
    'The role that runs take on, such as arn:aws:iam::123456789012:role/deploy.',
  ),
  audience: audience(Audience.default('sts.amazonaws.com')),
});

const GoogleIdentity = z.strictObject({
  provider: field(
    z
      .string()
      .regex(
        /^projects\/\d{1,20}\/locations\/global\/workloadIdentityPools\/[a-z0-9-]{1,32}\/providers\/[a-z0-9-]{1,32}$/,
        {
          error:
            'expected a provider of a workload identity pool: "projects/123/locations/global/workloadIdentityPools/pool/providers/name"',
        },
      ),
    'Provider of the pool',
    'Such as projects/123/locations/global/workloadIdentityPools/pool/providers/name.',
  ),
  service_account: field(
    z
      .string()
      .max(255)
      .regex(/^[a-z0-9-]+@[a-z0-9.-]+\.gserviceaccount\.com$/, {
        error: 'expected the address of a service account, such as "deploy@project.iam.gserviceaccount.com"',
      })
      .optional(),
    'Service account',
    'The account that runs act as; without it, they act as themselves.',
  ),
  audience: audience(Audience.optional()),
});

const AzureIdentity = z.strictObject({ audience: audience(Audience.default('api://AzureADTokenExchange')) });

const VaultIdentity = z.strictObject({
  role: field(name, 'Role', 'The role of the JWT login.'),
  mount: field(name.default('jwt'), 'Mount', 'Where the JWT login is mounted.'),
  audience: audience(Audience),
});

const expectedUrl = { error: 'expected a URL such as "https://vault.example.com:8200"' };
const address = z
  .string()
  .max(2000)
  .regex(/^https?:\/\/[^\s@?#]+$/, expectedUrl)
  .refine(canBeUrl, expectedUrl);

export const CloudConfig = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.literal('aws'),
    region: field(region.optional(), 'Region', 'Such as eu-central-1. Without it, templates say where they work.'),
    workload_identity: identity(AwsIdentity.optional()),
  }),
  z.strictObject({
    provider: z.literal('google'),
    project: field(
      z
        .string()
        .regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/)
        .optional(),
      'Project ID',
      'Without it, templates say where they work.',
    ),
    workload_identity: identity(GoogleIdentity.optional()),
  }),
  z.strictObject({
    provider: z.literal('azure'),
    tenant_id: field(guid, 'Tenant ID', 'Of the directory.'),
    client_id: field(guid, 'Client ID', 'Of the application that runs sign in as.'),
    subscription_id: field(guid.optional(), 'Subscription ID', 'Without it, templates say where they work.'),
    workload_identity: identity(AzureIdentity.optional()),
  }),
  z.strictObject({
    provider: z.literal('vault'),
    address: field(address, 'Address', 'Such as https://vault.example.com:8200.'),
    namespace: field(name.optional(), 'Namespace'),
    workload_identity: identity(VaultIdentity),
  }),
  z.strictObject({
    provider: z.literal('other'),
    workload_identity: identity(z.strictObject({ audience: audience(Audience) })),
  }),
]);
export type CloudConfig = z.output<typeof CloudConfig>;

/** A config by which runs sign in with a token of their own. */
export type FederatedConfig = {
  [Provider in CloudConfig['provider']]: Extract<CloudConfig, { provider: Provider }> & {
    workload_identity: NonNullable<Extract<CloudConfig, { provider: Provider }>['workload_identity']>;
  };
}[CloudConfig['provider']];

export function isFederated(config: CloudConfig): config is FederatedConfig {
  return config.workload_identity !== undefined;
}
