import { z } from 'zod';
import { CloudConfig, type FederatedConfig, isFederated } from './cloud-config.ts';
import { type Delivery, defineKind, field, Secret, SecretText } from './kind.ts';
import { audienceOf, deliverIdentity } from './workload-identity.ts';

const Aws = z.strictObject({
  access_key_id: field(Secret, 'Access key ID'),
  secret_access_key: field(Secret, 'Secret access key'),
  session_token: field(Secret.optional(), 'Session token', 'Of keys that end soon.'),
});
const Google = z.strictObject({
  service_account_key: field(
    SecretText.refine(isServiceAccountKey, {
      error: 'expected the JSON of a service account\'s key, with "type": "service_account"',
    }).meta({ contentMediaType: 'application/json' }),
    'Key of a service account',
    'The JSON file that Google Cloud gave.',
  ),
});
const Azure = z.strictObject({ client_secret: field(Secret, 'Client secret') });
const None = z.strictObject({});
/** `None` with a refusal that always gives the reason. */
const NoneKept = z.custom<z.output<typeof None>>((given) => None.safeParse(given).success, {
  error: 'expected {}: with workload_identity, no credentials are kept',
});
const Credentials = z.union([Aws, Google, Azure, None]);
type Credentials = z.output<typeof Credentials>;

const ofProvider = (provider: CloudConfig['provider']) => z.object({ provider: z.literal(provider) });

/** Signs in at a cloud: with keys that last until somebody replaces them, or with a token of the attempt. */
export const cloud = defineKind({
  summary: 'Work in AWS, Google Cloud, Azure, or behind Vault or OpenBao.',
  config: CloudConfig,
  credentials: Credentials,
  forms: [
    { when: z.object({ workload_identity: z.object({}) }), credentials: NoneKept, described: None },
    { when: ofProvider('aws'), credentials: Aws },
    { when: ofProvider('google'), credentials: Google },
    { when: ofProvider('azure'), credentials: Azure },
    { when: z.object({}), credentials: None },
  ],
  urls: () => [],
  audienceOf: (config) => (isFederated(config) ? audienceOf(config) : null),
  deliver: (config, credentials, identity) => {
    const delivery = isFederated(config) ? deliverIdentity(config, identity) : deliverKeys(config, credentials);
    return { ...delivery, settings: { ...placeOf(config), ...delivery.settings } };
  },
});

type KeyConfig = Exclude<CloudConfig, FederatedConfig>;

function deliverKeys({ provider }: KeyConfig, credentials: Credentials): Delivery {
  if (provider === 'aws' && 'access_key_id' in credentials) {
    const { access_key_id: id, secret_access_key: secret, session_token: session } = credentials;
    const keys = { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
    return { variables: { ...keys, ...(session && { AWS_SESSION_TOKEN: session }) }, files: {} };
  }
  if (provider === 'google' && 'service_account_key' in credentials)
    return { variables: {}, files: { GOOGLE_APPLICATION_CREDENTIALS: credentials.service_account_key } };
  if (provider === 'azure' && 'client_secret' in credentials)
    return { variables: { ARM_CLIENT_SECRET: credentials.client_secret }, files: {} };
  throw new Error(`the credentials are not those of ${provider}`);
}

/** The region, project or similar place where the tools work, which is not secret. */
function placeOf(config: CloudConfig): Record<string, string> {
  if (config.provider === 'aws')
    return config.region ? { AWS_REGION: config.region, AWS_DEFAULT_REGION: config.region } : {};
  if (config.provider === 'google')
    return config.project ? { GOOGLE_PROJECT: config.project, GOOGLE_CLOUD_PROJECT: config.project } : {};
  if (config.provider === 'azure') {
    const { tenant_id: tenant, client_id: client, subscription_id: subscription } = config;
    const ids = { ARM_TENANT_ID: tenant, ARM_CLIENT_ID: client };
    return { ...ids, ...(subscription && { ARM_SUBSCRIPTION_ID: subscription }) };
  }
  return {};
}

function isServiceAccountKey(text: string): boolean {
  try {
    return Object(JSON.parse(text)).type === 'service_account';
  } catch {
    return false;
  }
}
