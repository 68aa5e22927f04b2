import type { Expectation } from '#domain/runs/plans/model.ts';

/** The explanation of a finding whose scan did not know which value it expected. */
export const expectationWords: Record<Expectation, string> = {
  perpetual:
    'The configuration gives this another value at each plan, for example by timestamp(). Add ignore_changes for it to the resource, or suppress this finding.',
  unknown: 'Only an apply would know this value. It may depend on a resource that differs as well.',
};

/** How many deviations a scan has opened, in words. */
export function countDeviations(opened: number, perpetual: number): string {
  const deviations = opened === 1 ? 'a new deviation' : `${opened} new deviations`;
  if (!(perpetual > 0)) return deviations;
  if (perpetual < opened)
    return `${deviations}, ${perpetual} of which ${perpetual === 1 ? 'differs' : 'differ'} at each plan`;
  return `${deviations}, which ${opened === 1 ? 'differs' : 'differ'} at each plan`;
}

/** The advice about opened findings whose value differs in every plan; null if there are none. */
export function describePerpetual(perpetual: number, opened: number): string | null {
  if (!(perpetual > 0)) return null;
  const which = perpetual < opened ? `${perpetual} of them` : opened === 1 ? 'it' : 'all of them';
  const advice = `Add ignore_changes to the resource, or suppress the ${perpetual === 1 ? 'finding' : 'findings'}`;
  return `The configuration gives ${which} another value at each plan, for example by timestamp(). ${advice}.`;
}
