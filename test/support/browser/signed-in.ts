import { expect } from 'vitest';
import { type TestApi, testPassword } from '../api/in-process-api.ts';
import { Visitor } from './visitor.ts';

/** A visitor of pages who has signed in by the form. */
export async function signInVisitor(api: TestApi, { email }: { readonly email: string }): Promise<Visitor> {
  const visitor = new Visitor(api.app);
  expect((await visitor.submit('/login', { email, password: testPassword })).status).toBe(303);
  return visitor;
}
