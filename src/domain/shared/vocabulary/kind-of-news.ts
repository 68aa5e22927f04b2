/** One kind of notification, as its area declares it in its `news.ts`. Pure. */
export interface KindOfNews {
  /** Its name in filters and in the table of preferences. */
  readonly label: string;
  /** A sentence for users that says what it reports and who receives it. Without it, users are not notified. */
  readonly toUsers?: string;
  /** A sentence that says what channels receive. Without it, channels are not notified, because it concerns single people. */
  readonly toChannels?: string;
  /** The kind of thing that it is about, or the kinds. */
  readonly subject: string | readonly string[];
  /** Set if it asks somebody to act. It is then also sent by e-mail and chat, unless a user decides otherwise. */
  readonly asksToAct?: true;
}
/** The kinds by their names. Clients match the names: they never change. */
export type KindsOfNews = Readonly<Record<string, KindOfNews>>;
