import { expect, it } from 'vitest';
import { fillForm } from '#api/registry/pages/publish/publish-form.ts';

type Version = Parameters<typeof fillForm>[0];

function fill(git: object) {
  const spec = { executor: { kind: 'opentofu', git } };
  return fillForm({ version: '1.0.0', spec } as unknown as Version);
}

it('the form for a version has the previous repository in its fields, or in the spec if it needs a connection', () => {
  const open = { url: 'https://git.example/x', ref: 'main' };
  expect(fill(open)).toMatchObject({ source: 'git', git_url: open.url, git_ref: 'main' });
  const closed = { url: 'ssh://git@git.example/x', ref: 'main', connection: 'code' };
  const form = fill(closed);
  expect(form).toMatchObject({ source: 'spec', git_url: '' });
  expect(JSON.parse(form.spec).executor.git).toEqual(closed);
});
