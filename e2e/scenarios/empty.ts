/** A fresh installation. */
export function fillEmpty(): void {}
