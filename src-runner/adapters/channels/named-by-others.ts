/** What cameras, phones and chat apps call a file: `IMG_0123.jpg`, `image.png`, `Screenshot 2026-11-29 at 10.33.12 AM.png`. */
const NAMED_BY_DEVICE = /^(?:image|img|photo|pxl|dsc|screenshot|video|voice-message)(?:[\d\s_.-]|\b(?:at|[ap]m)\b)*\.[a-z\d]{2,5}$/i

/** Whether the name of a file that somebody sends may be the words of another person. */
export function mayBeNamedByOthers(name: string): boolean {
  return !NAMED_BY_DEVICE.test(name)
}
