import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

/** What the programs of this folder share. The address and the password come from the environment. */

export type Client = ReturnType<typeof createClient<paths>>;

const { SERVICE_URL: baseUrl = '', ADMINISTRATOR: administrator = '', PASSWORD: password = '' } = process.env;

/** What an operation answered. @throws Error with the error of the service */
export async function answered<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  if (data !== undefined && data !== null) return data;
  throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(error)}`);
}

export async function signIn(email: string, secret: string): Promise<Client> {
  const anonymous = createClient<paths>({ baseUrl });
  const body = { email, password: secret };
  const { token } = await answered(anonymous.POST('/api/v1/auth/sessions', { body }));
  return createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });
}

export const signInAsAdministrator = () => signIn(administrator, password);
