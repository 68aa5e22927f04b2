import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { type GitServer, makeGitRoot, serveGit } from '#test/support/programs/git.ts';
import { makeRequest, makeWorkRoot, requireTools, run } from '../support.ts';

/** Templates whose own files look like a git repository, whose configuration names programs: git reads it wherever it runs in such a directory. */

const tools = await requireTools();
const work = makeWorkRoot();
const root = makeGitRoot();
let server: GitServer;
beforeAll(async () => {
  server = await serveGit(root.path, (_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    return true;
  });
});
afterAll(async () => {
  await Promise.all([work.remove(), server.close()]);
  root.remove();
});

const program = "sh -c 'echo pwned-$((40+2)) >&2; exit 1'";
const ways: Readonly<Record<string, (origin: string) => { config: string; source: string }>> = {
  'a program for SSH': () => ({
    config: `[core]\n\tsshCommand = "${program}"\n`,
    source: 'git::ssh://git@127.0.0.1/acme/network.git',
  }),
  'a program that gives passwords': (origin) => ({
    config: `[credential]\n\thelper = "!${program}"\n`,
    source: `git::${origin}/acme/network.git`,
  }),
  'a program as the transport': (origin) => ({
    config: `[protocol]\n\tallow = always\n[url "ext::${program}#"]\n\tinsteadOf = ${origin}\n`,
    source: `git::${origin}/acme/network.git`,
  }),
};
let versions = 0;

describe.each(tools)('a template that is a git repository, with $name $version,', ({ name, version }) => {
  it.each(Object.entries(ways))('runs no program of its own while modules are fetched: %s', async (_, wayTo) => {
    const { config, source } = wayTo(`http://127.0.0.1:${server.port}`);
    const files: TemplateFiles = {
      'main.tf': `module "one" {\n  source = "${source}"\n}\n`,
      HEAD: 'ref: refs/heads/main\n',
      config: `[core]\n\trepositoryformatversion = 0\n\tbare = true\n${config}`,
      'objects/kept': '',
      'refs/kept': '',
    };
    const { result, sink } = await run(
      makeRequest({
        workRoot: work.path,
        templateVersion: `repository-${process.pid}-${++versions}`,
        phase: 'plan',
        tool: { name, version },
        egress: { policy: 'allow', allow: ['127.0.0.1'] },
        executor: { kind: 'opentofu', files },
      }),
    );
    expect(result, sink.text()).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).not.toContain('pwned-42');
  });
});
