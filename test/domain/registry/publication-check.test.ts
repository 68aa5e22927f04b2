import { describe, expect, it } from 'vitest';
import { checkVersion, refuseBroken } from '#domain/registry/publication/publication-check.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';

const check = (files: TemplateFiles, more: object = {}) =>
  checkVersion(TemplateSpec.parse({ executor: { kind: 'opentofu', files }, ...more }), files);
const errorsOf = (main: string, more: object = {}) => check({ 'main.tf': main }, more).errors;

describe('the check of a version', () => {
  it('finds a template sequence that is not closed, by its line', () => {
    const main = 'variable "site" {}\noutput "url" {\n  value = "https://${var.site"\n}\noutput "x" { value = "}" }\n';
    expect(errorsOf(main)).toEqual([
      expect.objectContaining({
        path: '/executor',
        file: 'main.tf',
        line: 3,
        message: expect.stringContaining('quotes'),
      }),
    ]);
  });

  it.each([
    ['resource "x" "y" {\n', 1, 'never closed'],
    ['locals {\n  a = [1, 2\n}\n', 3, 'does not close'],
    ['locals {\n  a =\n}\n', 2, 'no value'],
    ['}\n', 1, 'closes nothing'],
    ['locals {\n  a = <<EOT\nhello\n}\n', 2, 'never ends'],
    ['# first\nnonsense here\n', 2, 'expected an argument'],
  ])('refuses %j', (main, line, message) => {
    expect(errorsOf(main)).toEqual([expect.objectContaining({ line, message: expect.stringContaining(message) })]);
  });

  it('finds variables that are used and not declared, in expressions, texts and called modules', () => {
    const files = {
      'main.tf': 'module "a" {\n  source = "./a"\n}\noutput "b" { value = "${upper("${var.b}")}" }\n',
      'a/main.tf': 'locals {\n  c = [for x in var.c : x]\n}\n',
      'unused/main.tf': 'output "d" { value = var.d }',
    };
    expect(check(files).errors.map(({ file, line, message }) => [file, line, message])).toEqual([
      ['main.tf', 4, 'var.b is used, but no variable "b" is declared'],
      ['a/main.tf', 2, 'var.c is used, but no variable "c" is declared'],
    ]);
  });

  it.each([
    'variable "a" {\n  default = {\n    a = 1, b = "x"\n    c = [\n      1,\n    ]\n  }\n}\noutput "b" { value = var.a }',
    'locals {\n  a = [for var in [{ x = 1 }] : var.x]\n}',
    'locals { a = "$${var.missing} %%{ if var.missing }" } // ${var.missing}',
    'locals {\n  a = <<-EOT\n    $${var.missing} "quotes\n    EOT\n}',
    'locals {\n  a = true ? (\n    1\n  ) : 2 /* } */\n  b = "${\n    "x"\n  }"\n}',
    'locals { a = { var = 1 }.var }',
    'variable foo { default = "\\"}{" }',
  ])('accepts %j', (main) => {
    expect(errorsOf(main)).toEqual([]);
  });

  it('compares the schema and the outputs with what the files declare', () => {
    const variables = { type: 'object', properties: { size: { type: 'number' }, sise: { type: 'number' } } };
    const main = 'variable "size" { type = number }\noutput "a" { value = var.size }';
    expect(errorsOf(main, { variables, outputs: { a: {}, b: {} } })).toEqual([
      { path: '/variables/properties/sise', message: 'the files declare no variable "sise"' },
      { path: '/outputs/b', message: 'the files have no output "b"' },
    ]);
  });

  it('warns of a variable without a value, of a sensitive variable that the schema does not mark as secret, and of a backend', () => {
    const variables = { type: 'object', properties: { key: { type: 'string' } } };
    const main =
      'terraform {\n  backend "s3" {}\n}\nvariable "key" {\n  sensitive = true\n}\nvariable "region" {}\nvariable "size" { default = 1 }';
    const { errors, warnings } = check({ 'main.tf': main }, { variables });
    expect(errors).toEqual([]);
    expect(warnings.map(({ line }) => line)).toEqual([4, 7, 2]);
  });

  it.each([
    ['terraform.tfvars', false],
    ['a.auto.tfvars.json', false],
    ['examples/terraform.tfvars', true],
    ['other.tfvars', true],
  ])('warns of a variable whose only value is in %s: %s', (name, warns) => {
    const values = name.endsWith('.json') ? '{"region": "x"}' : 'region = "x"\n';
    const { warnings } = check({ 'main.tf': 'variable "region" {}\n', [name]: values });
    expect(warnings.map(({ message }) => /"region" needs a value/.test(message))).toEqual(warns ? [true] : []);
  });

  it('warns of a variable without a value beside a file with the values of other variables', () => {
    const { warnings } = check({ 'main.tf': 'variable "region" {}\n', 'terraform.tfvars': 'size = 1\n' });
    expect(warnings).toHaveLength(1);
  });

  it.each([
    ['terraform.tfvars', 'region = "x\n', 1],
    ['x.auto.tfvars.json', '{"region": ', undefined],
    ['x.auto.tfvars.json', '[]', undefined],
  ])('refuses a variables file that no tool can read: %s with %j', (file, values, line) => {
    const { errors } = check({ 'main.tf': 'variable "region" {}\n', [file]: values });
    expect(errors).toMatchObject([{ path: '/executor', file, ...(line && { line }) }]);
  });

  it('looks for variables files in the directory of the configuration', () => {
    const executor = { kind: 'opentofu', git: { url: 'https://host/a', ref: 'main', path: 'live' } };
    const warningsWith = (name: string) => {
      const files = { 'live/main.tf': 'variable "region" {}\n', [name]: 'region = "x"\n' };
      return checkVersion(TemplateSpec.parse({ executor }), files).warnings;
    };
    expect(warningsWith('live/terraform.tfvars')).toEqual([]);
    expect(warningsWith('terraform.tfvars')).toHaveLength(1);
  });

  it('ignores an error that only one of two possible tools would report', () => {
    const declared = 'variable "a" { default = 1 }';
    const files = { 'main.tf': 'output "b" { value = var.a }', 'more.tf': declared, 'more.tofu': '# nothing' };
    expect(check(files).errors).toEqual([]);
    expect(check(files, { tool: { name: 'opentofu' } }).errors).toHaveLength(1);
  });

  it('reports an error of the only tool whose versions can fit, even if the other tool would not report it', () => {
    const files = {
      'main.tf': 'terraform {\n  required_version = "> 2.0, < 1.0"\n}\nvariable "a" { default = 1 }\n',
      'main.tofu': 'output "b" { value = var.a }',
    };
    expect(check(files).errors).toMatchObject([{ file: 'main.tofu', message: expect.stringContaining('var.a') }]);
  });

  it('reads JSON and overrides', () => {
    const files = {
      'main.tf.json': '{"variable": {"a": {"type": "string"}}, "output": [{"b": {"value": "${var.a}"}}]}',
      'override.tf': 'variable "a" {\n  default = "x"\n}',
    };
    const variables = { type: 'object', properties: { a: { type: 'string' } } };
    expect(check(files, { variables, outputs: { b: {} } })).toEqual({ errors: [], warnings: [] });
    expect(check({ ...files, 'more.tf.json': '{' }).errors).toEqual([
      expect.objectContaining({ file: 'more.tf.json', message: 'is not valid JSON' }),
    ]);
  });

  it.each(['"${', '{', '[', '"', 'a = [', '%{', '<<A\n', 'x {', 'var.a '])(
    'takes little time for hostile text of %j',
    (part) => {
      const text = `locals {\n  a = ${part.repeat(20_000)}`;
      expect(() => errorsOf(text)).not.toThrow();
    },
  );
});

describe('an error of a publication', () => {
  it('has the path of the field, with names unescaped and items of lists counted', () => {
    const errors = [
      { path: '/variables/properties/a~1b.c', message: 'is not declared' },
      { path: '/outputs/7', message: 'is missing' },
      { path: '/executor/apply/1/run/0', message: 'is missing', file: 'main.tf', line: 3 },
    ];
    expect.assertions(1);
    try {
      refuseBroken({ errors });
    } catch (error) {
      expect(error).toMatchObject({
        details: {
          errors: [
            { in: 'body', path: 'spec.variables.properties["a/b.c"]' },
            { in: 'body', path: 'spec.outputs["7"]' },
            { in: 'body', path: 'spec.executor.apply[1].run[0]', file: 'main.tf', line: 3 },
          ],
        },
      });
    }
  });

  it('warns of a plan that the files encrypt, which no run could show its reviewers', () => {
    const text = 'terraform {\n  encryption {\n    plan {\n      enforced = true\n    }\n  }\n}\n';
    expect(check({ 'main.tf': text }).warnings).toEqual([
      { path: '/executor', file: 'main.tf', line: 2, message: expect.stringMatching(/a plan that the files encrypt/) },
    ]);
  });
});
