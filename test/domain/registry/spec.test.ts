import { describe, expect, it } from 'vitest';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { ApprovalPolicy, stricterApproval } from '#domain/shared/vocabulary/approval.ts';
import { checkFilePath, checkFiles } from '#domain/sources/files.ts';
import { GitRef } from '#domain/sources/git/source.ts';
import { hasConfiguration } from '#domain/sources/hcl/root-files.ts';

const main = 'resource "terraform_data" "x" {}';
const step = (name: string, ...run: string[]) => ({ name, run: run.length > 0 ? run : ['true'] });
const command = (more: object = {}) => ({ executor: { kind: 'command', apply: [step('go')], ...more } });

/** Each problem as `path: message`. */
function problemsOf(spec: unknown): string[] {
  const issues = TemplateSpec.safeParse(spec).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join('/')}: ${message}`);
}

describe('a spec', () => {
  it('needs only an executor', () => {
    expect(TemplateSpec.parse({ executor: { kind: 'opentofu', files: { 'main.tf': main } } })).toEqual({
      variables: { type: 'object', properties: {} },
      outputs: {},
      executor: { kind: 'opentofu', files: { 'main.tf': main } },
      retry_safe: false,
    });
  });

  it('keeps every field that it may have', () => {
    const spec = {
      variables: { type: 'object', properties: { size: { type: 'integer' } } },
      outputs: { address: { description: 'Where it is', sensitive: true } },
      executor: {
        kind: 'command',
        files: { 'bin/deploy.sh': '#!/bin/sh\n' },
        plan: [step('plan')],
        apply: [{ name: 'deploy', run: ['./bin/deploy.sh', '', '--now'], env: { REGION: 'eu' }, timeout: '10m' }],
        destroy: [step('destroy')],
        detect: [step('detect')],
      },
      approval: { required: 2, when: 'destroys' },
      timeouts: { plan: 'PT10M', approval: '7d', apply: '1h' },
      connections: [{ name: 'aws', kind: 'aws' }],
      pool: 'gpu',
      retry_safe: true,
    };
    expect(TemplateSpec.parse(spec)).toEqual(spec);
  });

  it('is refused with every problem and its path', () => {
    const problems = problemsOf({
      variables: 'all',
      outputs: { '1st': {} },
      executor: { kind: 'command', apply: [] },
      approval: { required: 6, when: 'often' },
      timeouts: { plan: '2 hours' },
      pool: 'GPU pool',
      retries: 3,
    });
    expect(problems).toEqual([
      expect.stringMatching(/^variables: /),
      expect.stringMatching(/^outputs\/1st: /),
      expect.stringMatching(/^executor\/apply: /),
      expect.stringMatching(/^approval\/required: /),
      expect.stringMatching(/^approval\/when: /),
      expect.stringMatching(/^timeouts\/plan: expected a duration between 1s and 1d/),
      expect.stringMatching(/^pool: /),
      expect.stringMatching(/retries/),
    ]);
  });

  it('is refused without an executor of a known kind', () => {
    expect(problemsOf({ executor: { kind: 'pulumi' } })).toHaveLength(1);
    expect(problemsOf({})).toHaveLength(1);
  });

  it('needs either OpenTofu files or a git source, and not both', () => {
    const git = { url: 'https://github.com/acme/network.git', ref: 'main' };
    const message = 'executor: expected either "files" or "git", and not both';
    expect(problemsOf({ executor: { kind: 'opentofu', git } })).toEqual([]);
    expect(problemsOf({ executor: { kind: 'opentofu' } })).toEqual([message]);
    expect(problemsOf({ executor: { kind: 'opentofu', git, files: { 'main.tf': main } } })).toEqual([message]);
    expect(problemsOf({ executor: { kind: 'opentofu', files: { 'a/main.tf': main } } })).toEqual([
      'executor/files: must have a file such as "main.tf" at its top',
    ]);
  });

  it('needs steps with different names and a program each', () => {
    expect(problemsOf(command({ apply: [step('a'), step('b'), step('a')] }))).toEqual([
      'executor/apply/2/name: must not be used twice',
    ]);
    expect(problemsOf(command({ apply: [step('a')], destroy: [step('a')] }))).toEqual([]);
    expect(problemsOf(command({ apply: [{ name: 'a', run: [] }] }))).toHaveLength(1);
    expect(problemsOf(command({ apply: [{ name: 'a', run: [''] }] }))).toHaveLength(1);
    expect(problemsOf(command({ apply: [{ name: 'a', run: 'rm -rf /' }] }))).toHaveLength(1);
    expect(problemsOf(command({ apply: [{ name: 'a\n', run: ['x'] }] }))).toHaveLength(1);
  });

  it('must not use the names of variables and files that the service reserves for steps', () => {
    for (const name of ['COORDINATOR_VAR_SIZE', 'coordinator_token', 'A=B', '1A', 'A B', '']) {
      expect(problemsOf(command({ apply: [{ name: 'a', run: ['x'], env: { [name]: 'x' } }] })), name).toHaveLength(1);
    }
    expect(problemsOf(command({ files: { 'state.json': '{}' } }))).toHaveLength(1);
    expect(problemsOf(command({ files: { 'data/state.json': '{}' } }))).toEqual([]);
  });

  it('must not name a connection twice', () => {
    const connections = [
      { name: 'aws', kind: 'aws' },
      { name: 'aws', kind: 'github' },
    ];
    expect(problemsOf({ ...command(), connections })).toEqual(['connections: must not name a connection twice']);
  });
});

describe('a git source', () => {
  const problems = (url: string) => problemsOf({ executor: { kind: 'opentofu', git: { url, ref: 'main' } } });

  it.each([
    'https://github.com/acme/network.git',
    'https://git.example.com:8443/x/y',
    'ssh://git@github.com/acme/network.git',
    'file:///srv/network',
  ])('may be at %s', (url) => {
    expect(problems(url)).toEqual([]);
  });

  it.each([
    'ext::sh -c "touch /tmp/x"',
    '--upload-pack=touch',
    '-u',
    '/etc',
    '../network',
    'git://example.com/x',
    'ftp://example.com/x',
    'https://user:hunter2@example.com/x',
    'https://token@example.com/x',
    'https://example.com/x?y=1',
    'https://example.com/x#main',
    'https://example.com/a b',
    'https://example.com/a\nb',
    'https://',
    '',
  ])('may not be at %j, and the refusal repeats no password', (url) => {
    const found = problems(url);
    expect(found).toHaveLength(1);
    expect(found[0]).not.toContain('hunter2');
  });

  it('a git source in the short form is refused with the right form', () => {
    expect(problems('git@github.com:acme/network.git')[0]).toContain('ssh://git@host/path');
  });

  it.each(['main', 'v1.4.0', 'refs/heads/main', 'feature/x-1', 'a@b', `${'0a'.repeat(20)}`, 'HEAD', 'übung'])(
    'may name %s',
    (ref) => {
      expect(GitRef.safeParse(ref).success).toBe(true);
    },
  );

  it.each([
    '',
    '-x',
    '--upload-pack=x',
    'a..b',
    'a b',
    'a~1',
    'a^{}',
    'a:b',
    'a?',
    'refs/heads/*',
    'a[b',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    '@',
    'a@{1}',
    'a\n',
    'a\0',
    '\x7f',
  ])('may not name %j', (ref) => {
    expect(GitRef.safeParse(ref).success).toBe(false);
  });
});

describe("the name of a template's file", () => {
  it.each(['main.tf', 'modules/a/main.tf', '.tflint.hcl', 'ü/ö.tf', '.terraform.lock.hcl', 'a b.tf', '-x', '...'])(
    'may be called %s',
    (path) => {
      expect(checkFilePath(path)).toBeNull();
    },
  );

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'a/../../x',
    'a/..',
    './a',
    'a/./b',
    'a//b',
    'a/',
    'C:/x',
    'c:x',
    'a\\..\\b',
    'a\0b',
    'a\nb',
    '\ud800',
    '.git/config',
    'a/.GIT/hooks/post-checkout',
    '.terraform/plugins/x',
    'terraform.tfstate',
    'a/terraform.tfstate.backup',
    'x'.repeat(256),
    'x/'.repeat(300),
  ])('may not be called %j', (path) => {
    expect(checkFilePath(path)).not.toBeNull();
  });

  it('is refused with every problem of every file', () => {
    const files = { a: 'x', 'a/b': 'y', 'c/d': 'z', 'c/d/e': '', '../f': '', g: '\0', h: '\ud800' };
    expect(checkFiles(files, { files: 10, bytes: 100 }).map(({ path }) => path)).toEqual([
      'a/b',
      'c/d/e',
      '../f',
      'g',
      'h',
    ]);
  });

  it('counts in bytes towards the limit', () => {
    expect(checkFiles({ a: 'ü'.repeat(5) }, { files: 1, bytes: 10 })).toEqual([]);
    expect(checkFiles({ a: 'ü'.repeat(6) }, { files: 1, bytes: 11 })).toEqual([
      { path: null, message: 'has more than 11 bytes in its files' },
    ]);
    expect(checkFiles({ a: '', b: '' }, { files: 1, bytes: 10 })).toHaveLength(1);
    expect(checkFiles({ a: { base64: Buffer.alloc(12).toString('base64') } }, { files: 1, bytes: 11 })).toHaveLength(1);
  });

  it('counts as configuration only in its own directory', () => {
    expect(hasConfiguration({ 'main.tf': '' })).toBe(true);
    expect(hasConfiguration({ 'main.tofu.json': '' })).toBe(true);
    expect(hasConfiguration({ 'a/main.tf': '' })).toBe(false);
    expect(hasConfiguration({ 'main_override.tf': '', 'override.tofu.json': '', '.x.tf': '', 'x.tf~': '' })).toBe(
      false,
    );
    expect(hasConfiguration({ 'a/main.tf': '' }, 'a')).toBe(true);
    expect(hasConfiguration({ 'ab/main.tf': '' }, 'a')).toBe(false);
    expect(hasConfiguration({ 'main.tfvars': '', 'x.tf.md': '' })).toBe(false);
  });
});

describe('the stricter of two approvals', () => {
  const policy = (required: number, when: 'never' | 'destroys' | 'changes' | 'always', allow_self = false) =>
    ApprovalPolicy.parse({ required, when, allow_self });

  it('has the larger number and the stricter rule, even from different policies', () => {
    expect(stricterApproval({ required: 1, when: 'changes' }, policy(3, 'destroys'))).toEqual(policy(3, 'changes'));
    expect(stricterApproval({ required: 2, when: 'never' }, policy(0, 'always'))).toEqual(policy(2, 'always'));
    expect(stricterApproval({ required: 0, when: 'destroys' }, policy(0, 'never'))).toEqual(policy(0, 'destroys'));
  });

  it('requires no approval if neither policy requires one', () => {
    expect(stricterApproval(null, null)).toEqual(policy(0, 'never'));
    expect(stricterApproval({ required: 1, when: 'always' }, null)).toEqual(policy(1, 'always'));
  });

  it('allows self-approval only if the environment does', () => {
    expect(stricterApproval({ required: 1, when: 'always' }, policy(0, 'never', true)).allow_self).toBe(true);
    expect(stricterApproval({ required: 1, when: 'always' }, policy(1, 'always', false)).allow_self).toBe(false);
  });
});
