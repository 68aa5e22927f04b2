import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { read } from '#api/pipeline/operation.ts';
import type { Services } from '#api/services.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { configurationOf, publicKeysOf } from '#domain/workload-identity/discovery.ts';
import { findSigningKeys } from '#domain/workload-identity/signing-keys/rotation.ts';
import { keptByVerifiersSeconds } from '#domain/workload-identity/signing-keys/schedule.ts';

const Configuration = z
  .object({
    issuer: z.string().describe('What tokens name as `iss`.'),
    jwks_uri: z.string().describe('Where the public keys are.'),
    response_types_supported: z.array(z.string()),
    subject_types_supported: z.array(z.string()),
    id_token_signing_alg_values_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    claims_supported: z.array(z.string()),
  })
  .meta({ id: 'OpenidConfiguration' });

const PublicKey = z.object({
  kty: z.string(),
  use: z.string(),
  alg: z.string(),
  kid: z.string().describe('By this a token names the key that has signed it.'),
  n: z.string(),
  e: z.string(),
});

const access = { public: 'verifiers have no credential of this service' };

export const configuration = read({
  id: 'workload_identity.configuration',
  route: 'GET /.well-known/openid-configuration',
  summary: 'How verifiers check the tokens of runs (OpenID Connect Discovery 1.0)',
  description: 'Answers 404 while the service does not know its public URL.',
  responses: { 200: Configuration },
  access,
  target: async () => ({ ...installationOwnership, name: 'issuer' }),
  handle: async ({ services }) => publish(configurationOf(requireIssuer(services))),
});

export const keys = read({
  id: 'workload_identity.keys',
  route: 'GET /.well-known/jwks.json',
  summary: 'The public keys that check the tokens of runs (RFC 7517)',
  description: 'A new key is listed an hour before it signs, and an old one until its last token is over.',
  responses: { 200: z.object({ keys: z.array(PublicKey) }).meta({ id: 'PublicKeys' }) },
  access,
  target: ({ em }) => findSigningKeys(em, false),
  handle: async ({ target, services }) => {
    requireIssuer(services);
    return publish(publicKeysOf(target));
  },
});

function requireIssuer({ config: { issuer } }: Services): string {
  if (issuer !== null) return issuer;
  throw new NotFound('the issuer', ': an operator has to set COORDINATOR_BASE_URL or COORDINATOR_ISSUER');
}

/** An answer that, unlike others, verifiers and proxies may cache. */
function publish(body: object): RawAnswer {
  return RawAnswer.by((_request, reply: FastifyReply) =>
    reply
      .header('cache-control', `public, max-age=${keptByVerifiersSeconds}`)
      .type('application/json; charset=utf-8')
      .serializer((text: unknown) => text as string)
      .send(JSON.stringify(body)),
  );
}
