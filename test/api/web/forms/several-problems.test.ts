import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** What the page and the schema of the operation find wrong stands in the form at once. */
let api: TestApi;
let admin: Visitor;

beforeAll(async () => {
  api = await startApi();
  admin = await signInVisitor(api, await api.addUser('admin'));
});
afterAll(() => api?.close());

async function problemsOf(path: string, fields: Record<string, string>): Promise<string[]> {
  const { text } = await admin.submit(path, fields);
  return [...text.matchAll(/ id="field-([\w.-]+)-problem"/g)].map(([, name = '']) => name).sort();
}

describe('the form', () => {
  it('of a new environment names versions without a tool beside its other problems', async () => {
    const wrong = { name: '', kind: 'none', ttl: 'soon', 'tool.version': '1.9' };
    const policy = { 'approval_policy.when': 'changes', 'approval_policy.required': '9' };
    const found = await problemsOf('/environments/new', { ...wrong, ...policy });
    expect(found).toEqual(['approval_policy-required', 'kind', 'name', 'project_id', 'tool-name', 'ttl']);
  });
});
