/** Told apart by the first that fits: several call themselves by the names of others as well. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** What a person would call a browser or program, by what it says of itself; only a hint, as anything can say anything. */
export function describeAgent(agent: string | null): string {
  if (!agent) return 'An unnamed program';
  const program = programs.find(([pattern]) => pattern.test(agent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(agent))?.[1];
  if (!program) return agent.split(/[\s/;(]/, 1)[0]?.slice(0, 40) || 'An unnamed program';
  return system ? `${program} on ${system}` : program;
}
