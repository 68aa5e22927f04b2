/** In order of precedence: the first match counts, because the headers of several browsers also contain the names of others. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/^first-start-of-the-service$/, 'The first start of the service, which made the administrator and the sample'],
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

/** A browser's or program's usual name, from its User-Agent header. It is only a hint: any client can send any header. */
export function describeAgent(agent: string | null): string {
  if (!agent) return 'An unnamed program';
  const program = programs.find(([pattern]) => pattern.test(agent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(agent))?.[1];
  if (!program) return agent.split(/[\s/;(]/, 1)[0]?.slice(0, 40) || 'An unnamed program';
  return system ? `${program} on ${system}` : program;
}
