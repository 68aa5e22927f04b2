import { z } from 'zod';
import { type Delivery, defineKind, nothing, Secret, SecretText } from './kind.ts';

const region = z.string().regex(/^[a-z0-9-]{1,40}$/, { error: 'expected a region such as "eu-central-1"' });
const guid = z.guid({ error: 'expected an id such as "019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11"' });

const Config = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('aws'), region: region.optional() }),
  z.strictObject({
    provider: z.literal('google'),
    project: z
      .string()
      .regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/)
      .optional(),
  }),
  z.strictObject({ provider: z.literal('azure'), tenant_id: guid, client_id: guid, subscription_id: guid.optional() }),
]);

const Aws = z.strictObject({ access_key_id: Secret, secret_access_key: Secret, session_token: Secret.optional() });
const Google = z.strictObject({
  service_account_key: SecretText.refine(isServiceAccountKey, {
    error: 'expected the JSON of a service account\'s key, with "type": "service_account"',
  }),
});
const Azure = z.strictObject({ client_secret: Secret });
const Credentials = z.union([Aws, Google, Azure], {
  error:
    'expected {access_key_id, secret_access_key} of AWS, {service_account_key} of Google, or {client_secret} of Azure',
});

const credentialsOf = { aws: Aws, google: Google, azure: Azure } as const;

/** Signs in at a cloud with keys that last until somebody replaces them. */
export const cloud = defineKind({
  summary: 'Work in AWS, Google Cloud or Azure.',
  config: Config,
  credentials: Credentials,
  findMisfit: ({ provider }, credentials) =>
    credentialsOf[provider].safeParse(credentials).success
      ? null
      : `credentials: ${provider} takes ${Object.keys(credentialsOf[provider].shape).join(', ')}`,
  urls: () => [],
  deliver: (config, credentials) => ({ ...nothing, ...toDelivery(config, credentials) }),
});

function toDelivery(config: z.output<typeof Config>, credentials: z.output<typeof Credentials>): Partial<Delivery> {
  if (config.provider === 'aws' && 'access_key_id' in credentials) {
    const { access_key_id: id, secret_access_key: secret, session_token: session } = credentials;
    const keys = { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
    return { variables: { ...keys, ...(session && { AWS_SESSION_TOKEN: session }), ...awsRegion(config.region) } };
  }
  if (config.provider === 'google' && 'service_account_key' in credentials) {
    const project = config.project && { GOOGLE_PROJECT: config.project, GOOGLE_CLOUD_PROJECT: config.project };
    return { files: { GOOGLE_APPLICATION_CREDENTIALS: credentials.service_account_key }, variables: { ...project } };
  }
  if (config.provider === 'azure' && 'client_secret' in credentials) {
    const { tenant_id: tenant, client_id: client, subscription_id: subscription } = config;
    const ids = { ARM_TENANT_ID: tenant, ARM_CLIENT_ID: client, ARM_CLIENT_SECRET: credentials.client_secret };
    return { variables: { ...ids, ...(subscription && { ARM_SUBSCRIPTION_ID: subscription }) } };
  }
  throw new Error(`the credentials are not those of ${config.provider}`);
}

function awsRegion(region: string | undefined): Record<string, string> {
  return region ? { AWS_REGION: region, AWS_DEFAULT_REGION: region } : {};
}

function isServiceAccountKey(text: string): boolean {
  try {
    return Object(JSON.parse(text)).type === 'service_account';
  } catch {
    return false;
  }
}
