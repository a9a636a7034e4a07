/** An autostart file (freedesktop.org Desktop Entry Specification). It does not quote like a shell. */
export function desktopEntry(command: readonly string[]): string {
  const quoted = command.map((part) => `"${part.replaceAll('%', '%%').replace(/["`$\\]/g, '\\$&')}"`.replaceAll('\\', '\\\\'))
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Deckhand',
    `Exec=${quoted.join(' ')}`,
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n')
}
