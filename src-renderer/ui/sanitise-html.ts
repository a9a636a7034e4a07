import DOMPurify from 'dompurify'
import { webAddress } from './markdown-blocks.ts'

const TAGS = [
  'p',
  'br',
  'hr',
  'h3',
  'h4',
  'h5',
  'h6',
  'strong',
  'em',
  'del',
  'code',
  'pre',
  'blockquote',
  'kbd',
  'sub',
  'sup',
  'span',
  'a',
  'ul',
  'ol',
  'li',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
]
const ATTRIBUTES = ['href', 'start', 'align', 'class']
const CLASS = /^(?:md-image|language-[\w+#.-]{1,30})$/

const purifier = DOMPurify(window)

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.hasAttribute('class') && !CLASS.test(node.getAttribute('class')!)) node.removeAttribute('class')
  if (node.tagName !== 'A') return
  const address = webAddress(node.getAttribute('href') ?? '')
  if (address === null) {
    node.removeAttribute('href')
    return
  }
  node.setAttribute('href', address)
  node.setAttribute('rel', 'noopener noreferrer nofollow')
  // The title shows where a link leads, whatever its text claims.
  node.setAttribute('title', address)
})

/**
 * The HTML as inert nodes: a short list of text elements, links to http and https only, no style, no handler, no id, nothing
 * that fetches. A model's text becomes elements only through this function.
 */
export function sanitiseHtml(html: string): DocumentFragment {
  const fragment: DocumentFragment | null = purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    // The pattern below is checked for every attribute except these.
    ADD_URI_SAFE_ATTR: ['align', 'start'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
    RETURN_DOM_FRAGMENT: true,
  })
  // For a <frameset> DOMPurify has no body and returns nothing.
  return fragment ?? document.createDocumentFragment()
}
