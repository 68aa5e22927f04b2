import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Html, html } from '#api/web/html.ts';
import { openRandom } from '#test/faults/harness/random.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { readSeed } from '#test/support/seed.ts';

const seed = readSeed('DIRECTION_SEED', 20_261_126);

/** Characters that change the direction of text, alone and together: letters, digits, marks, controls and ends of paragraphs. */
const pieces = [
  ...'ab1 .-(',
  ...'שלם',
  ...'سلا٣',
  ...'\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e',
  ...'\u2066\u2067\u2068\u2069',
  ...'\n\r\u0085\u2028\u2029\u001c',
];
const attacks = [
  '\u202eb',
  '\u2069\u202eb',
  '\u2069\u2069\u202e',
  '\u2067'.repeat(130),
  '\u202e'.repeat(200),
  '\u2029\u202e',
  'שלום',
  '\u200f',
];

let browser: Browser;
let page: Page;

describe.skipIf(findBrowser() === null)('text of other users in sentences of a page, in a real browser', () => {
  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 4000, height: 800 } });
  });
  afterAll(() => browser?.close());

  it('does not reverse a sentence, whatever it contains', async () => {
    expect(await findTurned(attacks)).toEqual([]);
  });

  it(`does not reverse a sentence, whatever combination of characters it has (seed ${seed})`, async () => {
    const random = openRandom(seed, 'direction');
    const texts = Array.from({ length: 400 }, () =>
      Array.from({ length: random.whole(1, 12) }, () => random.pick(pieces)).join(''),
    );
    expect(await findTurned(texts)).toEqual([]);
  });
});

/** The texts beside which a sentence is read in another order than it was written. */
async function findTurned(texts: readonly string[]): Promise<string[]> {
  const isTurned: boolean[] = [];
  for (const style of ['normal', 'pre']) {
    await page.setContent(String(html`<style>p { white-space: ${style} }</style>${texts.map(renderSentence)}`));
    for (const [index, turned] of (await page.evaluate<boolean[]>(sentencesTurned)).entries())
      isTurned[index] ||= turned;
  }
  return texts.filter((_, index) => isTurned[index]);
}

function renderSentence(text: string): Html {
  return html`<p><b>12 runs by</b> ${text} <b>3 waited (4), 5 ended.</b></p>`;
}

/** Returns for each paragraph whether a line of it has characters that do not go from left to right. */
const sentencesTurned = `[...document.querySelectorAll('p')].map((sentence) => {
  const boxes = [...sentence.querySelectorAll('b')].flatMap((words) => [...words.firstChild.data].map((_, index) => {
    const range = document.createRange();
    range.setStart(words.firstChild, index);
    range.setEnd(words.firstChild, index + 1);
    return range.getBoundingClientRect();
  }));
  return boxes.some((box, index) => index > 0 && box.top <= boxes[index - 1].top && box.left < boxes[index - 1].right - 0.5);
})`;
