import type { FederatedConfig } from './cloud-config.ts';
import type { AttemptIdentity, Delivery, LinkedFile } from './kind.ts';

/** Lets tools sign in with the token of an attempt, by the variables and files that the SDKs and providers of each cloud read. */

/** The variable with the path of the token for every provider, for tools that read no variable of a cloud. */
const tokenFile = 'WORKLOAD_IDENTITY_TOKEN_FILE';
const tokenMark = '@@token-file@@';

/** The audience of the tokens: the one in the config, or else the one that the cloud expects. */
export function audienceOf(config: FederatedConfig): string {
  const { audience } = config.workload_identity;
  if (audience !== undefined) return audience;
  if (config.provider === 'google') return `https://iam.googleapis.com/${config.workload_identity.provider}`;
  throw new Error(`a connection with ${config.provider} has no audience`);
}

export function deliverIdentity(config: FederatedConfig, identity: AttemptIdentity): Delivery {
  const delivery = deliveryOf(config, identity);
  return { variables: {}, ...delivery, files: { [tokenFile]: identity.token, ...delivery.files } };
}

function deliveryOf(config: FederatedConfig, { token, runId }: AttemptIdentity): Partial<Delivery> {
  switch (config.provider) {
    case 'aws':
      return {
        // CloudTrail shows the name of the session.
        settings: { AWS_ROLE_ARN: config.workload_identity.role_arn, AWS_ROLE_SESSION_NAME: `run-${runId}` },
        files: { AWS_WEB_IDENTITY_TOKEN_FILE: token },
      };
    case 'google':
      return { files: { GOOGLE_APPLICATION_CREDENTIALS: externalAccount(config) } };
    case 'azure':
      return {
        settings: { ARM_USE_OIDC: 'true', AZURE_TENANT_ID: config.tenant_id, AZURE_CLIENT_ID: config.client_id },
        files: { ARM_OIDC_TOKEN_FILE_PATH: token, AZURE_FEDERATED_TOKEN_FILE: token },
      };
    case 'vault':
      return { settings: vaultSettings(config), variables: { TERRAFORM_VAULT_AUTH_JWT: token } };
    case 'other':
      return {};
  }
}

/** The configuration by which Google's libraries exchange a token for credentials (https://google.aip.dev/auth/4117). */
function externalAccount({
  workload_identity: identity,
}: Extract<FederatedConfig, { provider: 'google' }>): LinkedFile {
  const account = identity.service_account;
  const impersonation = account && {
    service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
  };
  const text = JSON.stringify({
    type: 'external_account',
    audience: `//iam.googleapis.com/${identity.provider}`,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file: tokenMark, format: { type: 'text' } },
    ...impersonation,
  });
  return { text, links: { [tokenMark]: tokenFile } };
}

/** The address and the login settings. The provider `vault` has no variables for role and mount, so these two are for scripts. */
function vaultSettings(config: Extract<FederatedConfig, { provider: 'vault' }>) {
  const { address, namespace, workload_identity: identity } = config;
  return {
    VAULT_ADDR: address,
    BAO_ADDR: address,
    ...(namespace && { VAULT_NAMESPACE: namespace, BAO_NAMESPACE: namespace }),
    VAULT_JWT_ROLE: identity.role,
    VAULT_JWT_MOUNT: identity.mount,
  };
}
