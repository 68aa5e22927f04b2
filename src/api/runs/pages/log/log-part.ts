import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { formatSpan } from '#api/web/components/time.ts';
import type { getLogLines } from '../../log-line-operations.ts';
import { type ShownLine, toSpans } from './line-spans.ts';

export type LogLines = EncodedAnswerOf<(typeof getLogLines)['responses']>;

/**
 * A line for the viewer: number, stream, time in milliseconds, pieces, and how many characters were left out. A tuple, because there are
 * many lines.
 */
export type PartLine = readonly [number: number, stream: string, time: number, spans: ShownLine, cut: number];

/** What the viewer shows about an attempt above its lines. */
export interface PartSection {
  readonly key: string;
  readonly label: string;
  readonly outcome: string;
  readonly tone: string;
  readonly icon: string;
  readonly took: string;
  readonly first: number;
  readonly lines: number;
  /** The attempt needs no attention: it succeeded, or a later attempt replaced it. */
  readonly isSettled: boolean;
}

/** What the viewer gets in one answer: some lines, and what it must know about the whole log. */
export interface LogPart {
  readonly lines: readonly PartLine[];
  readonly to: number;
  readonly total: number;
  readonly sections: readonly PartSection[];
  readonly complete: boolean;
  /** Some lines are shown without colours, because the lines before them had very many. */
  readonly hasLostColours: boolean;
}

/** How many colours are shown at once. Programs print some thousands in a thousand lines; a million would take a second to draw. */
const maxColours = 10_000;

export function toPart({ lines, sections, ...rest }: LogLines): LogPart {
  let left = maxColours;
  const shown = lines.map(({ number, stream, time, text, cut }): PartLine => {
    const line = toSpans(text, Math.max(0, left));
    left -= line.colours;
    return [number, stream, Date.parse(time), line.spans, line.cut + cut];
  });
  return { ...rest, lines: shown, sections: sections.map(toPartSection), hasLostColours: left < 0 };
}

const phaseWords = { plan: 'Plan', apply: 'Apply', detect: 'Detect' } as const;

const outcomes = {
  planned: { word: 'Done', tone: 'succeeded', icon: 'circle-check' },
  unchanged: { word: 'No changes', tone: 'succeeded', icon: 'circle-check' },
  applied: { word: 'Done', tone: 'succeeded', icon: 'circle-check' },
  failed: { word: 'Failed', tone: 'failed', icon: 'octagon-x' },
  canceled: { word: 'Canceled', tone: 'canceled', icon: 'ban' },
  timed_out: { word: 'Timed out', tone: 'timed-out', icon: 'hourglass' },
  handed_back: { word: 'Stopped before it had changed anything', tone: 'canceled', icon: 'ban' },
  lost: { word: 'Its worker was lost', tone: 'failed', icon: 'octagon-x' },
} as const;
const underWay = { word: 'Running', tone: 'running', icon: 'loader-circle' } as const;

function toPartSection(section: LogLines['sections'][number], index: number, all: LogLines['sections']): PartSection {
  const { phase, attempt, outcome, started_at, finished_at, first_line: first, lines } = section;
  const { word, tone, icon } = outcome === null ? underWay : outcomes[outcome];
  const isLast = index === all.length - 1;
  return {
    key: `${phase}-${attempt}`,
    label: attempt > 1 ? `${phaseWords[phase]}, attempt ${attempt}` : phaseWords[phase],
    outcome: word,
    tone,
    icon,
    took: finished_at ? formatSpan(Date.parse(finished_at) - Date.parse(started_at)) : '',
    first,
    lines,
    isSettled: !isLast && outcome !== null,
  };
}
