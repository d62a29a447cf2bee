// Parts of the page that most visits do not need come when they are first drawn.

import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Draws `meanwhile` until the module is there, and for good when it cannot be read. */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>, meanwhile: (props: P) => ComponentChildren): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [View, setView] = useState<{ is: ComponentType<P> } | null>(loaded === null ? null : { is: loaded });
    useEffect(() => {
      if (View !== null) return;
      let over = false;
      load().then(
        (module) => {
          loaded = module.default;
          if (!over) setView({ is: module.default });
        },
        () => {},
      );
      return () => {
        over = true;
      };
    }, []);
    return View === null ? <>{meanwhile(props)}</> : <View.is {...props} />;
  };
}
