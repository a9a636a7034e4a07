/** A fresh install: nothing was ever written. */
export function fillEmpty(): void {}
