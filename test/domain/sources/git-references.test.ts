import { describe, expect, it } from 'vitest';
import { localSources, pathsBeside } from '#domain/sources/git/references.ts';

const named = (text: string, name = 'main.tf') => pathsBeside(`live/${name}`, Buffer.from(text), 'live');

describe('the paths outside of its directory that a configuration names', () => {
  it.each<[string, string, string?]>([
    ['in a text', 'locals {\n  a = file("../shared/a.txt")\n}\n'],
    ['with the directory of the module', 'locals {\n  a = file("${path.module}/../shared/a.txt")\n}\n'],
    ['inside a template', 'locals {\n  a = "x-${file("../shared/a.txt")}"\n}\n'],
    ['inside a heredoc', 'locals {\n  a = <<E\n${file("../shared/a.txt")}\nE\n}\n'],
    ['after a text with a quote', 'locals {\n  a = "\\""\n  b = "../shared/a.txt"\n}\n'],
    ['in values', 'a = "../shared/a.txt"\n', 'x.auto.tfvars'],
    ['in JSON', '{"locals": {"a": "${path.module}/../shared/a.txt"}}', 'main.tf.json'],
    ['in JSON with escapes', '{"locals": {"a": "..\\/shared\\/a.txt"}}', 'main.tf.json'],
    ['in a command', 'a {\n  command = "bash ../shared/a.txt --flag"\n}\n'],
    [
      'in a command with the directory of the module',
      'a {\n  command = "cd x && cat ${ path.module }/../shared/a.txt"\n}\n',
    ],
    ['in a quoted word of a command', 'a {\n  command = "cat \\"../shared/a.txt\\";"\n}\n'],
    ['in a heredoc', 'a {\n  command = <<-E\n    set -e\n    ../shared/a.txt x\n  E\n}\n'],
    ['in a command in JSON', '{"command": "bash ../shared/a.txt x"}', 'main.tf.json'],
    ['inside a template of JSON', '{"locals": {"a": "x-${file(\\"../shared/a.txt\\")}"}}', 'main.tf.json'],
  ])('are found %s', (_, text, name) => {
    expect(named(text, name)).toEqual(['shared/a.txt']);
  });

  it.each([
    ['a comment', '# file("../shared/a.txt")\n/* "../shared/b.txt" */\n'],
    ['an address', 'locals {\n  a = "https://example.com/../x"\n}\n'],
    ['an address in a command', 'locals {\n  a = "curl https://example.com/../x"\n}\n'],
    ['a command that only goes up', 'locals {\n  a = "cd ../.. && ls ./x"\n}\n'],
  ])('are not found in %s', (_, text) => expect(named(text)).toEqual([]));
});

describe('the modules that a configuration calls by a path', () => {
  const sources = (text: string, name = 'main.tf') => localSources(`live/${name}`, Buffer.from(text));

  it('are found in both forms of the language, and not in comments or other blocks', () => {
    expect(sources('module "a" {\n  source = "../a//sub"\n}\n')).toEqual(['a']);
    expect(
      sources('{"module": {"a": {"source": "..\\/a"}}, "module": {"b": [{"source": "./b"}]}}', 'a.tf.json'),
    ).toEqual(['a', 'live/b']);
    expect(sources('# source = "../a"\nresource "x" "y" {\n  source = "../b"\n}\n')).toEqual([]);
  });
});
