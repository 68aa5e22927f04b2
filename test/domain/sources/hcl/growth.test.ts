import { describe, expect, it } from 'vitest';
import { checkVersion } from '#domain/registry/publication/publication-check.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { proposeSpec } from '#domain/registry/spec-proposal.ts';
import { readFilesTools } from '#domain/registry/tools/files-tools.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { findBlocks } from '#domain/sources/hcl/blocks.ts';
import { readDeclarations } from '#domain/sources/hcl/module.ts';
import { readModuleFiles } from '#domain/sources/hcl/module-files.ts';
import { findStateNotes } from '#domain/sources/hcl/state-notes.ts';
import { scanHcl } from '#domain/sources/hcl/tokens.ts';

/** The length of a text on which work in quadratic time would take minutes. */
const size = 200_000;
const readModule = (files: TemplateFiles) => readDeclarations(readModuleFiles(files, '', 'opentofu'));
const fill = (part: string) => part.repeat(size / part.length);

describe('hostile text of the largest size', () => {
  it.each<[string, string]>([
    ['a heredoc mark without a line feed', `<<${fill('A')}`],
    ['heredoc marks without a line feed', fill('<<A ')],
    ['heredocs without an end', fill('<<A\n')],
    ['a heredoc with a long margin', `<<A\n${fill(' ')}x\nA\n`],
    ['quotes that are not closed', fill('"${')],
    ['texts', fill('"a" ')],
    ['escapes', `"${fill('\\x')}`],
    ['signs of templates', `"${fill('$')}`],
    ['a comment that is not closed', `/*${fill('*')}`],
    ['slashes', fill('/a')],
    ['a word', fill('a')],
    ['a word beyond the Basic Multilingual Plane', fill('𠀀')],
    ['a number', fill('1')],
    ['a number with many points', fill('1.')],
    ['brackets', fill('[')],
    ['braces', fill('{')],
  ])('is read if it is %s', (_, text) => {
    expect(() => scanHcl(text)).not.toThrow();
    expect(() => readModule({ 'main.tf': text })).not.toThrow();
  });

  it('is refused if it is longer', () => {
    expect(scanHcl(' '.repeat(5_000_000)).problem).toEqual({ line: 1, message: 'the file is too long' });
  });

  it.each<[string, string]>([
    ['many members', `{"terraform": {${Array.from({ length: 40_000 }, (_, index) => `"m${index}": {}`).join(',')}}}`],
    ['many repeated members', `{${Array.from({ length: 40_000 }, () => '"locals": {}').join(',')}}`],
    ['lists in lists', '['.repeat(50_000) + ']'.repeat(50_000)],
    ['objects in objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['a deep value', `{"variable": {"a": {"default": ${'['.repeat(50_000)}${']'.repeat(50_000)}}}}`],
  ])('is read if it is JSON with %s', (_, text) => {
    expect(() => [...findBlocks({ name: 'main.tf.json', text })]).not.toThrow();
    expect(() => readModule({ 'main.tf.json': text })).not.toThrow();
  });
});

describe('many links to the same files', () => {
  const module = 'terraform {\n  backend "s3" {}\n  required_version = ">= 1"\n}\n'.repeat(5_000);
  const files: TemplateFiles = { 'shared/main.tf': module, 'main.tf': 'locals {}\n' };
  for (let index = 0; index < 1_500; index++) {
    files[`link-${index}.tf`] = { link: 'shared/main.tf' };
    files[`d${index}`] = { link: 'shared' };
  }
  files['calls.tf'] = Array.from({ length: 1_500 }, (_, at) => `module "m${at}" {\n  source = "./d${at}"\n}\n`).join(
    '',
  );

  it('are read in time proportional to the number of files', () => {
    expect(findStateNotes(files)).toHaveLength(100);
    expect(readFilesTools(files).required.terraform).toEqual(['>= 1']);
  });

  it('are not checked at publication, and no schema is derived from them', () => {
    const spec = TemplateSpec.parse({ executor: { kind: 'opentofu', files: { 'main.tf': '' } } });
    expect(checkVersion(spec, files).warnings).toMatchObject([{ message: expect.stringContaining('too large') }]);
    expect(proposeSpec(files).notes).toMatchObject([{ message: expect.stringContaining('too large') }]);
  });
});
