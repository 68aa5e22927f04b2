import Anser from 'anser';
import { withColours } from '#domain/runs/log/shown-text.ts';
import { directionControls } from '#domain/shared/values/text.ts';

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
type ColourName = (typeof names)[number] | 'grey';

/**
 * The colour of the page that is nearest to a colour of a terminal. The page has few colours, each readable on light and on dark, as those
 * of a terminal are not. Bright and dark variants look the same.
 * @param name a class of anser, such as `ansi-bright-red`, `ansi-palette-208` or `ansi-truecolor`
 * @param rgb "r, g, b" for `ansi-truecolor`
 */
function nearestColour(name: string, rgb: string | null): ColourName {
  const plain = names.find((each) => name.endsWith(`-${each}`));
  if (plain) return name === 'ansi-bright-black' ? 'grey' : plain;
  const palette = /^ansi-palette-(\d+)$/.exec(name)?.[1];
  return nearestTo(palette === undefined ? (rgb ?? '').split(',').map(Number) : ofPalette(Number(palette)));
}

/** The colour that the palette has at this number, from 16 up: a cube of 6 × 6 × 6 colours, then 24 greys. */
function ofPalette(index: number): number[] {
  if (index >= 232) return [0, 0, 0].map(() => 8 + (index - 232) * 10);
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  return [36, 6, 1].map((weight) => level(Math.floor((index - 16) / weight) % 6));
}

/** Selects by hue. A colour of low saturation becomes grey, the colour of muted text, or black, the colour of text. */
function nearestTo([red = 0, green = 0, blue = 0]: readonly number[]): ColourName {
  const [low, high] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  if (high - low < 48) return high > 64 && high < 200 ? 'grey' : 'black';
  const middle = (low + high) / 2;
  const bits = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return names[bits] ?? 'black';
}

/** A piece of a line, and its CSS classes. */
export type Span = readonly [text: string, classes: string];

/** A line without any colour is a plain string. */
export type ShownLine = string | readonly Span[];

const maxCharacters = 4000;

/** A line as the page shows it: its pieces with classes for their colours, and the number of characters that were left out. */
export interface ShownSpans {
  readonly spans: ShownLine;
  readonly cut: number;
  /** How many colours the line had, whether they are shown or not. */
  readonly colours: number;
}

/**
 * Prepares a line for the page: control characters become visible.
 * @param maxColours how many colours are shown; by default, the usual number
 */
export function toSpans(line: string, maxColours?: number): ShownSpans {
  const { text, colours } = withColours(line, maxColours);
  const cut = Math.max(0, text.length - maxCharacters);
  const kept = cut > 0 ? withoutHalves(text.slice(0, maxCharacters)) : text;
  if (!kept.includes('\x1b')) return { spans: showControls(kept), cut, colours };
  const entries = Anser.ansiToJson(kept, { use_classes: true, remove_empty: true });
  return { spans: merge(entries.map((entry): Span => [showControls(entry.content), classesOf(entry)])), cut, colours };
}

/** Removes what a cut may leave at the end: half of a character, or the beginning of an escape sequence. */
function withoutHalves(text: string): string {
  return text.replace(/[\ud800-\udbff]$|\x1b\[?[\d;]*$/, '');
}

const controls = new RegExp(`[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\u2028\\u2029${directionControls}]`, 'g');

/**
 * Replaces control characters by symbols, such as ␀. Line separators would break the line, and direction controls would reorder the text of
 * the page beside it.
 */
function showControls(text: string): string {
  return text.replace(controls, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
}

/** Blinking and hidden text look like any other text, so that a log cannot hide anything. */
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

/** Joins neighbours of the same look, and returns a plain string if no piece has a look. */
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
