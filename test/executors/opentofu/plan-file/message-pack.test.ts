import { describe, expect, it } from 'vitest';
import { readMessagePack } from '#executors/opentofu/plan-file/message-pack.ts';

const type = [0xc4, 0x01, 0x78];

describe('reading a value of a plan file', () => {
  it('skips the type of the whole value', () => {
    expect(readMessagePack(Buffer.from([0x92, ...type, 0x92, 1, 2]))).toEqual([1, 2]);
  });

  it.each<[string, number[]]>([
    ['item of a list', [0x92, ...type, 0x92, ...type, 1]],
    ['item of a longer list', [0x92, ...type, 0x93, 1, 2, 0x92, ...type, 1]],
    ['member of a map', [0x92, ...type, 0x81, 0xa1, 0x61, 0x92, ...type, 1]],
    ['key of a map', [0x92, ...type, 0x81, 0x92, ...type, 1, 1]],
    ['second item', [0x92, 1, ...type]],
    ['whole value', type],
  ])('refuses a type as the %s', (_, bytes) => expect(() => readMessagePack(Buffer.from(bytes))).toThrow());
});
