import { describe, expect, it } from 'vitest';
import { configurationFiles, filesReadBy } from '#domain/sources/hcl/root-files.ts';
import { findStateNotes } from '#domain/sources/hcl/state-notes.ts';

const notes = (files: Record<string, string>, directory?: string) =>
  findStateNotes(files, directory).map(
    ({ file, line, message }) => `${file}:${line} ${message.split(' ').slice(0, 3).join(' ')}`,
  );

describe('the notes on state and workspaces', () => {
  it('name each block of the root module with its file and line', () => {
    const files = {
      'live/main.tf': '\nterraform {\n  cloud {\n  }\n}\n',
      'live/b.tf': 'terraform {\n  required_version = ">= 1"\n  backend "s3" {\n    key = "k"\n  }\n}\n',
      'live/c.tofu.json': '{\n  "terraform": {\n    "backend": {"gcs": {}}\n  }\n}',
      'm/main.tf': 'terraform {\n  backend "s3" {}\n}\n',
    };
    expect(notes(files, 'live')).toEqual([
      'live/b.tf:3 the backend "s3"',
      'live/c.tofu.json:3 the backend "gcs"',
      'live/main.tf:3 the cloud block',
    ]);
  });

  it('name the first use of the workspace in each file of any module, in expressions and templates only', () => {
    const files = {
      'main.tf': '# terraform.workspace\nlocals {\n  a = "terraform.workspace"\n  b = terraform.workspace\n}\n',
      'm/a.tf': 'locals {\n  a = "x-${\n  upper(terraform.workspace)}"\n}\n',
      'm/b.tf': 'locals {\n  a = <<-E\n    one\n    ${tofu.workspace}\n  E\n}\n',
      'm/c.tf.json': '{\n"locals": {"a": "${terraform.workspace}"}}',
      'm/d.tf': 'locals {\n  a = x.terraform.workspace\n  b = terraform.workspaces\n}\n',
    };
    expect(notes(files)).toEqual([
      'main.tf:4 terraform.workspace is "default"',
      'm/a.tf:3 terraform.workspace is "default"',
      'm/b.tf:4 terraform.workspace is "default"',
      'm/c.tf.json:2 terraform.workspace is "default"',
    ]);
  });

  it('are found in time proportional to the length of the text', () => {
    for (const piece of [
      '"${',
      '{',
      '<<A\n',
      '/*',
      '"\\',
      '${"',
      'terraform.workspace${',
      '"${terraform.workspace"${',
    ]) {
      expect(() => findStateNotes({ 'main.tf': piece.repeat(200_000) })).not.toThrow();
    }
    expect(() => findStateNotes({ 'main.tf.json': '['.repeat(100_000) + ']'.repeat(100_000) })).not.toThrow();
  });
});

describe('the files that a tool reads', () => {
  it('are the same as those that OpenTofu and Terraform read', () => {
    const names = [
      'a.tf',
      'a.tofu',
      'b.tf.json',
      'b.tofu.json',
      'c.tf',
      'c.tofu.json',
      'd_override.tf',
      'd_override.tofu',
      '.x.tf',
      '#y.tf#',
      'z.tf~',
    ];
    const files = configurationFiles(Object.fromEntries(names.map((name) => [name, ''])));
    const read = (tool: 'opentofu' | 'terraform') => filesReadBy(tool, files).map(({ name }) => name);
    expect(read('terraform')).toEqual(['a.tf', 'b.tf.json', 'c.tf', 'd_override.tf']);
    expect(read('opentofu')).toEqual(['a.tofu', 'b.tofu.json', 'c.tf', 'c.tofu.json', 'd_override.tofu']);
  });
});
