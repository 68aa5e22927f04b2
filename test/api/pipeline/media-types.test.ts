import { describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { negotiateMediaType } from '#api/pipeline/headers/media-types.ts';

function answerOf(id: string, accept: string | undefined): string {
  const operation = operations.find((each) => each.id === id);
  if (!operation) throw new Error(`there is no operation ${id}`);
  return negotiateMediaType(operation, accept);
}

describe('the log of a run, which is JSON or text,', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/*', 'application/json'],
    ['text/plain', 'text/plain'],
    ['TEXT/PLAIN; charset=utf-8', 'text/plain'],
    ['text/*', 'text/plain'],
    ['text/plain, */*', 'text/plain'],
    ['text/plain;q=0.5, application/json;q=0.9', 'application/json'],
    ['text/plain; q=0.5, application/json; q=0.9', 'application/json'],
    ['application/json;q=0, */*', 'text/plain'],
    ['application/json; q=0, */*', 'text/plain'],
    ['text/plain;q=0', null],
    ['image/png', null],
  ])('answers Accept: %s with %s', (accept, expected) => {
    if (expected !== null) return expect(answerOf('runs.get_logs', accept)).toBe(expected);
    expect(() => answerOf('runs.get_logs', accept)).toThrow('answers application/json or text/plain');
  });
});

it('an operation with one media type returns it, whatever a client accepts', () => {
  expect(answerOf('runs.get', 'text/html')).toBe('application/json');
  expect(answerOf('runs.stream_logs', 'application/json')).toBe('text/event-stream');
  expect(answerOf('instances.download_state', 'image/png')).toBe('application/json');
});
