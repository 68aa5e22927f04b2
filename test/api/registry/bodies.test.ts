import { describe, expect, it } from 'vitest';
import { CreateTemplate, PublishVersion } from '#api/registry/bodies.ts';

const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };

describe('a request about a template', () => {
  it('requires a name, and accepts different tags and no unknown field', () => {
    expect(CreateTemplate.parse({ name: 'Network' })).toEqual({
      name: 'Network',
      description: '',
      readme: '',
      tags: [],
    });
    expect(CreateTemplate.safeParse({ name: 'N', tags: ['a', 'a'] }).success).toBe(false);
    expect(CreateTemplate.safeParse({ name: 'N', tags: ['A B'] }).success).toBe(false);
    expect(CreateTemplate.safeParse({ name: 'N', owner: 'me' }).success).toBe(false);
  });

  it('publishes an exact version with its spec', () => {
    const parsed = PublishVersion.parse({ version: '1.0.0', spec });
    expect(parsed.changelog).toBe('');
    expect(PublishVersion.safeParse({ version: 'latest', spec }).success).toBe(false);
  });
});
