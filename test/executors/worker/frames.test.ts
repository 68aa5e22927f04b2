import { describe, expect, it } from 'vitest';
import { BrokenFrame, encodeFrame, FrameReader } from '#executors/protocol/frames.ts';

describe('frames', () => {
  it('are read completely, however the pipe splits them', () => {
    const frames = [
      encodeFrame({ n: 1 }),
      encodeFrame({ n: 2 }, Buffer.from([0, 1, 255])),
      encodeFrame({ n: 3 }, Buffer.alloc(70_000, 'x')),
    ];
    const bytes = Buffer.concat(frames);
    for (const size of [1, 7, 8, 9, 1000, bytes.length]) {
      const reader = new FrameReader<{ n: number }>();
      const read = [];
      for (let start = 0; start < bytes.length; start += size)
        read.push(...reader.push(bytes.subarray(start, start + size)));
      expect(read.map(({ message }) => message.n)).toEqual([1, 2, 3]);
      expect(read.map(({ body }) => body.length)).toEqual([0, 3, 70_000]);
    }
  });

  it('frames that announce more than the limit are refused before memory is allocated', () => {
    const prefix = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    expect(() => new FrameReader().push(prefix)).toThrow(BrokenFrame);
  });

  it('frames whose header is not JSON are refused', () => {
    const frame = Buffer.concat([Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]), Buffer.from('{x')]);
    expect(() => new FrameReader().push(frame)).toThrow(BrokenFrame);
  });
});
