/** The text of markup, in which tags do not separate words. */
export const textOf = (markup = '') => join(markup.replaceAll(/<[^>]*>/g, ''));

/** The words of markup, in which every tag separates words. */
export const wordsOf = (markup = '') => join(markup.replaceAll(/<[^>]*>/g, ' '));

const join = (text: string) => text.replaceAll('&quot;', '"').replaceAll(/\s+/g, ' ');
