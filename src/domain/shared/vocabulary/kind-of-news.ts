/** One kind of news, as its area declares it in its `news.ts`. Pure. */
export interface KindOfNews {
  /** What filters and the table of preferences call it. */
  readonly label: string;
  /** What users hear, in a sentence that says who hears it. Without one, users do not hear of it. */
  readonly toUsers?: string;
  /** What channels hear. Without it, they do not: it concerns single people. */
  readonly toChannels?: string;
  /** The kind of thing that it is about, or the kinds. */
  readonly subject: string | readonly string[];
  /** Asks somebody to do something. It comes by e-mail and in the chat, too, unless a user decides otherwise. */
  readonly asksToAct?: true;
}
/** By name. Clients match the names: they never change. */
export type KindsOfNews = Readonly<Record<string, KindOfNews>>;
