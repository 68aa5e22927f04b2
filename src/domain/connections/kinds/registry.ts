import { z } from 'zod';
import { defineKind, field, nothing, Secret } from './kind.ts';

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

const Config = z.strictObject({
  host: field(
    z
      .string()
      .max(253)
      .regex(new RegExp(`^${label}(?:\\.${label})+$`), {
        error:
          'expected the name of a host in lower case and with a dot, such as "registry.example.com": a port or a single word such as "localhost" is not taken',
      }),
    'Host',
    'The host of the registry of providers or modules.',
  ),
});

/** Provides OpenTofu and Terraform with access to a registry of providers and modules. */
export const registry = defineKind({
  summary: 'Download providers and modules from a private registry.',
  config: Config,
  credentials: z.strictObject({
    token: field(Secret, 'Token', 'As for the host in the credentials file of the tool.'),
  }),
  urls: ({ host }) => [`https://${host}/`],
  deliver: ({ host }, { token }) => ({ ...nothing, variables: { [tokenVariable(host)]: token } }),
});

/** The variable in which the tools look for the token of a host: a dot becomes `_`, and a hyphen `__`. */
function tokenVariable(host: string): string {
  return `TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`;
}
