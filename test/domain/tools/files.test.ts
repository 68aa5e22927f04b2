import { describe, expect, it } from 'vitest';
import { readFilesTools } from '#domain/registry/tools/files-tools.ts';

const requires = (range: string) => `terraform {\n  required_version = "${range}"\n}\n`;

describe("the tool that a template's files need", () => {
  it('is OpenTofu if a file is only for OpenTofu', () => {
    expect(readFilesTools({ 'main.tofu': '' }).needsOpenTofu).toBe(true);
    expect(readFilesTools({ 'main.tf': '', 'more.tofu.json': '{}' }).needsOpenTofu).toBe(true);
  });

  it('is not determined if each file for OpenTofu replaces one for Terraform', () => {
    expect(readFilesTools({ 'main.tf': '', 'main.tofu': '' }).needsOpenTofu).toBe(false);
    expect(readFilesTools({ 'main.tf': '', 'modules/x/main.tofu': '' }).needsOpenTofu).toBe(false);
  });

  it('is limited by required_version in all files and in the modules that they call', () => {
    const files = {
      'stacks/a/main.tf': `${requires('>= 1.5')}module "x" {\n  source = "../../modules/x"\n}\n`,
      'stacks/a/more.tf.json': JSON.stringify({ terraform: [{ required_version: '< 2.0' }] }),
      'modules/x/main.tf': requires('!= 1.6.0'),
      'modules/unused/main.tf': requires('= 0.12.0'),
    };
    const all = ['>= 1.5', '< 2.0', '!= 1.6.0'];
    expect(readFilesTools(files, 'stacks/a').required).toEqual({ opentofu: all, terraform: all });
  });

  it('is limited for each tool by the files that this tool reads', () => {
    const files = { 'main.tf': requires('~> 1.14'), 'main.tofu': requires('~> 1.12') };
    expect(readFilesTools(files).required).toEqual({ opentofu: ['~> 1.12'], terraform: ['~> 1.14'] });
  });

  it('is not limited by comments, strings and other blocks', () => {
    const text = [
      '# terraform { required_version = "= 1.0.0" }',
      'locals {\n  terraform = "required_version = \\"= 1.1.0\\""\n}',
      'variable "x" {\n  default = <<EOT\nterraform {\n  required_version = "= 1.2.0"\n}\nEOT\n}',
      'terraform {\n  required_providers {\n    x = { required_version = "= 1.3.0" }\n  }\n}',
      'terraform { required_version = "= 1.4.0" }',
    ].join('\n');
    expect(readFilesTools({ 'main.tf': text }).required.terraform).toEqual(['= 1.4.0']);
  });

  it('is limited by an override file in place of the other files', () => {
    const files = { 'main.tf': requires('= 1.0.0'), 'x_override.tf': requires('>= 1.5') };
    expect(readFilesTools(files).required.terraform).toEqual(['>= 1.5']);
  });

  it('is found even if modules call each other', () => {
    const call = (source: string) => `module "m" {\n  source = "${source}"\n}\n`;
    const files = { 'main.tf': call('./a'), 'a/main.tf': `${call('../')}${requires('>= 1.1')}` };
    expect(readFilesTools(files).required.terraform).toEqual(['>= 1.1']);
  });

  it('is limited for OpenTofu from 1.12 on only by .tofu files and language blocks', () => {
    const files = {
      'main.tf': requires('>= 1.5'),
      'own.tofu': requires('< 3.0'),
      'z_override.tofu': requires('< 2.5'),
      'lang.tofu': 'language {\n  compatible_with {\n    opentofu = "< 2.9"\n  }\n}\n',
      'more.tofu.json': JSON.stringify({ language: { compatible_with: { opentofu: '!= 1.13.0' } } }),
    };
    const { required, requiredSince12 } = readFilesTools(files);
    expect(required.opentofu).toEqual(['< 2.5', '>= 1.12.0']);
    expect(requiredSince12?.toSorted()).toEqual(['!= 1.13.0', '< 2.5', '< 2.9', '< 3.0', '>= 1.12.0']);
    expect(readFilesTools({ 'main.tf': files['lang.tofu'] }).needsOpenTofu).toBe(true);
  });

  it('counts at most 50 constraints, and none that is longer than 200 characters', () => {
    const many = Array.from({ length: 30_000 }, (_, index) => requires(`!= 1.0.${index}, != 1.1.${index}`)).join('');
    expect(readFilesTools({ 'main.tf': many }).required.terraform).toHaveLength(25);
    const long = requires(`>= 1.0${', != 1.0.1'.repeat(30)}`);
    expect(readFilesTools({ 'main.tf': long + requires('< 2.0') }).required.terraform).toEqual(['< 2.0']);
  });
});
