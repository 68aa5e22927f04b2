import { describe, expect, it } from 'vitest';
import { findBlocks } from '#domain/sources/hcl/blocks.ts';

const names = ['backend', 'cloud'];
const has = (name: string, text: string) =>
  [...findBlocks({ name, text })].some(({ parent, block }) => parent === 'terraform' && names.includes(block.type));
const hasTerraformBlock = (text: string) => has('x.tf', text);
const hasTerraformMember = (text: string) => has('x.tf.json', text);

describe('finding a backend in a configuration', () => {
  it.each([
    ['a plain block', 'terraform {\n  backend "s3" {\n    bucket = "x"\n  }\n}'],
    [
      'one after other settings',
      'terraform {\n  required_version = ">= 1"\n  required_providers {\n    a = { source = "b" }\n  }\n  backend "local" {}\n}',
    ],
    ['a cloud block', 'terraform {\n  cloud {\n    organization = "x"\n  }\n}'],
    ['one in a second block', 'terraform {}\nterraform {\n  backend "http" {}\n}'],
    ['one after a comment', 'terraform { # {\n  /* } */\n  // }\n  backend "s3" {}\n}'],
    [
      'one after a string with braces',
      'locals {\n  a = "}}} ${format("%s}", "{")} \\" {"\n}\nterraform {\n  backend "s3" {}\n}',
    ],
    ['one after a heredoc', 'locals {\n  a = <<-EOT\n    terraform { "\n    EOT\n}\nterraform {\n  backend "s3" {}\n}'],
    ['one with an unquoted label', 'terraform {\n  backend s3 {}\n}'],
    ['one with Windows line endings', 'terraform {\r\n  backend "s3" {\r\n  }\r\n}\r\n'],
  ])('finds %s', (_, text) => expect(hasTerraformBlock(text)).toBe(true));

  it.each([
    ['none', 'terraform {\n  required_version = ">= 1"\n}'],
    ['one in a comment', 'terraform {\n  # backend "s3" {}\n  /* backend "s3" {} */\n}'],
    ['one in a heredoc', 'locals {\n  a = <<EOT\nterraform {\n  backend "s3" {}\n}\nEOT\n}'],
    ['one in a string', 'locals {\n  a = "terraform { backend {} }"\n}'],
    ['a block of that name elsewhere', 'resource "x" "terraform" {\n  backend {\n  }\n}'],
    ['a deeper block of that name', 'terraform {\n  other {\n    backend {}\n  }\n}'],
    ['an attribute of that name', 'terraform {\n  backend = 1\n}'],
    ['unclosed text', 'terraform { "'],
  ])('ignores %s', (_, text) => expect(hasTerraformBlock(text)).toBe(false));

  it('finds the same in JSON, in all shapes that are allowed', () => {
    expect(hasTerraformMember('{"terraform": {"backend": {"s3": {}}}}')).toBe(true);
    expect(hasTerraformMember('{"terraform": [{}, {"cloud": [{}]}]}')).toBe(true);
    expect(hasTerraformMember('[{"terraform": {"backend": {"s3": {}}}}]')).toBe(true);
    expect(hasTerraformMember('{"terraform": {"required_version": "1"}, "backend": {}}')).toBe(false);
    expect(hasTerraformMember('not json')).toBe(false);
  });
});
