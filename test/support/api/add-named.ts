import type { Person } from '../access/people.ts';

/** Adds a resource by a request. Returns its id. */
export async function addNamed({ caller }: Person, path: string, request: object): Promise<string> {
  const { body, status, text } = await caller.post(path, request);
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return body.id;
}
