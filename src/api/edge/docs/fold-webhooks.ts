/** What the viewer gives to a function that wraps one of its components. */
interface ViewerSystem {
  readonly React: {
    createElement(type: unknown, properties: object | null, ...children: unknown[]): unknown;
    useState(initial: boolean): [boolean, (next: boolean) => void];
  };
}

/**
 * Draws the viewer's list of webhooks when somebody opens it. The viewer itself draws every event at once.
 * The browser gets the text of this function, so that it names nothing outside itself.
 */
export function foldWebhooks(Webhooks: unknown, { React }: ViewerSystem) {
  return (properties: object) => {
    const [isOpen, setOpen] = React.useState(false);
    const button = React.createElement(
      'button',
      { className: 'btn', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
      isOpen ? 'Hide the webhooks' : 'Show the webhooks: what is sent to your service for each event',
    );
    return React.createElement(
      'section',
      { className: 'wrapper' },
      button,
      isOpen ? React.createElement(Webhooks, properties) : null,
    );
  };
}
