import Anser from 'anser';
import { withColours } from '#domain/runs/log/shown-text.ts';
import { directionControls } from '#domain/shared/values/direction-controls.ts';
import { nearestColour } from './colours.ts';

/** A piece of a line and the classes that it is shown with. */
export type Span = readonly [text: string, classes: string];

/** A line without any colour is a text alone. */
export type ShownLine = string | readonly Span[];

const maxCharacters = 4000;

/** How a line is shown: its pieces with classes for their colours, and how many of its characters were left out. */
export interface ShownSpans {
  readonly spans: ShownLine;
  readonly cut: number;
  /** How many colours the line had, whether they are shown or not. */
  readonly colours: number;
}

/** How a line is shown. Control characters become visible. @param maxColours how many colours are shown; a usual number unless given */
export function toSpans(line: string, maxColours?: number): ShownSpans {
  const { text, colours } = withColours(line, maxColours);
  const cut = Math.max(0, text.length - maxCharacters);
  const kept = cut > 0 ? withoutHalves(text.slice(0, maxCharacters)) : text;
  if (!kept.includes('\x1b')) return { spans: showControls(kept), cut, colours };
  const entries = Anser.ansiToJson(kept, { use_classes: true, remove_empty: true });
  return { spans: merge(entries.map((entry): Span => [showControls(entry.content), classesOf(entry)])), cut, colours };
}

/** What a cut may leave at the end: half of a character, or the beginning of an escape sequence. */
function withoutHalves(text: string): string {
  return text.replace(/[\ud800-\udbff]$|\x1b\[?[\d;]*$/, '');
}

const controls = new RegExp(`[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\u2028\\u2029${directionControls}]`, 'g');

/**
 * Control characters as their pictures, such as ␀. Separators of lines would break the line, and controls of direction would turn what the page says
 * beside it.
 */
function showControls(text: string): string {
  return text.replace(controls, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
}

/** Shows blinking and hidden text like any other text, so that a log cannot hide anything. */
const shownDecorations = ['bold', 'dim', 'italic', 'underline', 'strikethrough', 'reverse'];

function classesOf({ fg, bg, fg_truecolor, bg_truecolor, decorations }: Anser.AnserJsonEntry): string {
  const given = new Set<string>(decorations);
  return [
    fg ? `ansi-${nearestColour(fg, fg_truecolor)}` : null,
    bg ? `ansi-on ansi-on-${nearestColour(bg, bg_truecolor)}` : null,
    ...shownDecorations.filter((name) => given.has(name)).map((name) => `ansi-${name}`),
  ]
    .filter((name) => name !== null)
    .join(' ');
}

/** Joins neighbours of the same look, and answers a text alone where nothing has a look. */
function merge(spans: readonly Span[]): ShownLine {
  const merged: [string, string][] = [];
  for (const [text, classes] of spans) {
    const last = merged.at(-1);
    if (last?.[1] === classes) last[0] += text;
    else merged.push([text, classes]);
  }
  if (merged.every(([, classes]) => classes === '')) return merged.map(([text]) => text).join('');
  return merged;
}
