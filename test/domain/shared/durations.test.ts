import { describe, expect, it } from 'vitest';
import { describeDuration, durationBetween, formatDuration, parseDuration } from '#domain/shared/values/durations.ts';

describe('a duration', () => {
  it.each([
    ['PT30M', 1800],
    ['30m', 1800],
    ['PT1H30M', 5400],
    ['1h30m', 5400],
    ['P1DT2H', 93_600],
    ['P2W', 1_209_600],
    ['2w', 1_209_600],
    ['P3D', 259_200],
    ['90s', 90],
    ['PT0S', 0],
  ])('%s is %i seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each([
    '',
    'P',
    'PT',
    'P1DT',
    'P1Y',
    'P1M',
    'PT1.5H',
    '30',
    'm',
    '30 m',
    ' 30m',
    '30m\n',
    '-5m',
    '30M',
    'PT30m',
    '5m1h',
    `${'9'.repeat(30)}s`,
    `PT${'9'.repeat(16)}H`,
    '1e3s',
    '٣m',
  ])('%j is refused', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it.each([0, 1, 59, 60, 3600, 5400, 86_400, 90_061, 1_209_600])(
    'a duration of %i seconds is formatted and parsed back',
    (seconds) => {
      expect(parseDuration(formatDuration(seconds))).toBe(seconds);
    },
  );

  it.each([
    [0, '0 s'],
    [3, '3 s'],
    [60, '1 min'],
    [90, '1 min 30 s'],
    [5400, '1 h 30 min'],
    [86_400, '24 h'],
  ])('a duration of %i seconds is read by people as %s', (seconds, text) => {
    expect(describeDuration(seconds)).toBe(text);
  });

  it('out of range is refused with the allowed range', () => {
    const result = durationBetween(60, 3600).safeParse('2h');
    expect(result.error?.issues[0]?.message).toBe('expected a duration between 1m and 1h, such as "30m" or "PT30M"');
    expect(durationBetween(60, 3600).safeParse('1h').success).toBe(true);
  });

  it.each([
    [1, 60, '"30s" or "PT30S"'],
    [0, 86_400, '"30m" or "PT30M"'],
    [3600, 30 * 86_400, '"1d" or "P1D"'],
    [2 * 86_400, 3 * 86_400, '"3d" or "P3D"'],
    [5, 10, '"10s" or "PT10S"'],
  ])(
    'a duration that must be between %i s and %i s is refused with examples that are accepted',
    (min, max, examples) => {
      const schema = durationBetween(min, max);
      expect(schema.safeParse('30').error?.issues[0]?.message).toMatch(new RegExp(`such as ${examples}$`));
      const given = [...examples.split(' or ').map((text) => JSON.parse(text)), schema.meta()?.example];
      for (const example of given) expect(schema.safeParse(example).success, example).toBe(true);
    },
  );
});
