/** What the viewer gives to a function that wraps one of its components. */
interface ViewerSystem {
  readonly React: {
    createElement(type: unknown, properties: object | null, ...children: unknown[]): unknown;
    useState(initial: boolean): [boolean, (next: boolean) => void];
  };
}

/**
 * A plugin of the viewer that draws the list of webhooks when somebody opens it. The viewer itself draws every event at once.
 * The browser gets the text of this function, so that it names nothing outside itself.
 */
export function foldWebhooks({ React }: ViewerSystem) {
  const wrap = (Webhooks: unknown) => (properties: object) => {
    const [isOpen, setOpen] = React.useState(false);
    const button = React.createElement(
      'button',
      { className: 'btn', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
      isOpen ? 'Hide the webhooks' : 'Show the webhooks: what is sent to your service for each event',
    );
    const list = isOpen ? React.createElement(Webhooks, properties) : null;
    return React.createElement('section', { className: 'wrapper' }, button, list);
  };
  return { wrapComponents: { Webhooks: wrap } };
}
