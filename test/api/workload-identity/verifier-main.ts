/**
 * A verifier as others would write one: a process of its own that knows the issuer's URL and nothing else of the service. It reads requests
 * from standard input, a JSON text on each line, and answers each with a line.
 */
import { createInterface } from 'node:readline';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const [, , issuer = ''] = process.argv;
const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
const configuration = (await discovery.json()) as { jwks_uri: string; id_token_signing_alg_values_supported: string[] };
const { jwks_uri: keysUrl, id_token_signing_alg_values_supported: algorithms } = configuration;
// A test waits for no cooldown.
const keys = createRemoteJWKSet(new URL(keysUrl), { cooldownDuration: 0 });

for await (const line of createInterface(process.stdin)) {
  const { token, audience, subject } = JSON.parse(line);
  try {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms, ...(subject && { subject }) });
    console.log(JSON.stringify({ accepted: true, claims: payload }));
  } catch (error) {
    console.log(JSON.stringify({ accepted: false, code: (error as { code?: string }).code }));
  }
}
