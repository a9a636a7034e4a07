import { setImmediate } from 'node:timers'
import { expect, it } from 'vitest'
import { htmlToText } from './html-to-text.ts'

const address = new URL('https://site.test/docs/page')

const read = async (html: string) => (await htmlToText(html, { address })).text

it.each<[string, string, string]>([
  ['headings', '<h1>One</h1><h3>Two <small>more</small></h3><h2></h2>text', '# One\n\n### Two more\n\ntext'],
  ['paragraphs and breaks', 'a<p>b<p>c<br>d</p>e<div>f</div><div>g</div>', 'a\n\nb\n\nc\nd\n\ne\nf\ng'],
  ['white space', ' a \n\t b&nbsp; c <b> d</b> e ', 'a b c d e'],
  ['entities', '&lt;b&gt; &amp;amp; &eacute; &#x4e2d; &#8364; &copy', '<b> &amp; é 中 € ©'],
  ['lists', '<ul><li>a<li><p>b</p><ol><li>c<li>d</ol><li>e</ul>f', '- a\n- b\n  1. c\n  2. d\n- e\n\nf'],
  ['lists that begin later', '<ol start=9><li>a<li></li><li>b</ol>', '9. a\n11. b'],
  ['tables', '<table><tr><th>A<th>B<tr><td><p>1</p><td><div>2</div><tr><td></td><td>x</table>y', 'A | B\n1 | 2\n | x\n\ny'],
  ['preformatted text', 'a<pre>  if x:\n    y\n\nz</pre>b', 'a\n\n  if x:\n    y\n\nz\n\nb'],
  ['images by what they show', '<img src=x alt="A cat"> <img src=y alt=""> <img src=z>', '[image: A cat]'],
  ['text that is not closed', '<div><p>a<b>b', 'ab'],
  ['end tags out of order', '<div><b>a</div>b</b></x></p>c', 'a\nb\n\nc'],
  ['elements with the names of object properties', '<p>a <constructor>b</constructor> c', 'a b c'],
  ['a cell whose end tags reach out of it', '<div><table><tr><td>a</div>b<td>c</table>', 'ab | c'],
])('writes %s', async (_what, html, text) => expect(await read(html)).toBe(text))

it.each<[string, string, string]>([
  ['beside the page', '<a href="other?x=1#y">go</a>', '[go](https://site.test/docs/other?x=1#y)'],
  ['of another site', '<a href="//b.test">go</a>', '[go](https://b.test/)'],
  ['by the base of the page', '<base href="https://c.test/d/"><base href="https://e.test/"><a href=f>go</a>', '[go](https://c.test/d/f)'],
  ['around a block', '<a href=/x><h2>Head</h2><p>more</p></a>', '## Head\n\nmore (https://site.test/x)'],
  ['around a picture', '<a href=/x><img src=y alt=Logo></a>', '[[image: Logo]](https://site.test/x)'],
  ['without text', 'a <a href=/x></a> b', 'a b'],
  ['that says where it leads', '<a href="https://b.test/">https://b.test/</a>', 'https://b.test/'],
  ['to a mail address', '<a href="mailto:me@b.test">me</a>', '[me](mailto:me@b.test)'],
  ['to a script', '<a href=" JaVa\nscript:alert(1)">go</a>', 'go'],
  ['to data', '<a href="data:text/html,x">go</a>', 'go'],
  ['within the page', '<a href="#top">go</a>', 'go'],
  ['in an item', '<ul><li><a href=/x>a</a></ul>', '- [a](https://site.test/x)'],
])('writes a link %s', async (_what, html, text) => expect(await read(html)).toBe(text))

it.each([
  ['scripts', '<script>var a = "<p>SECRET</p>"</script>'],
  ['styles', '<style>p::before { content: "SECRET" }</style>'],
  ['templates', '<template><p>SECRET</p></template>'],
  ['comments', '<!-- SECRET --><![CDATA[SECRET]]><?SECRET?>'],
  ['frames', '<iframe srcdoc="SECRET"><p>SECRET</p></iframe>'],
  ['fields', '<textarea>SECRET</textarea><input value=SECRET><select><option>SECRET</select>'],
  ['pictures in the page', '<svg><title>SECRET</title><text>SECRET</text></svg>'],
  ['hidden elements', '<div hidden>a<p>SECRET</p></div>'],
  ['elements hidden from readers', '<div aria-hidden=true>SECRET</div>'],
  ['display: none', '<div style="color:red; DISPLAY :\n none">SECRET</div>'],
  ['visibility: hidden', '<span style="visibility:hidden">SECRET</span>'],
  ['no size', '<span style="font-size: 0px;">SECRET</span>'],
  ['no opacity', '<span style="opacity:0">SECRET</span>'],
  ['a place off the screen', '<div style="position:absolute;left:-9999px">SECRET</div>'],
  ['a closed dialog', '<dialog>SECRET</dialog>'],
  ['attributes', '<p title="SECRET" data-x="SECRET">'],
  ['hidden links', '<a href="/SECRET" hidden>SECRET</a>'],
  ['hidden pictures', '<img hidden alt=SECRET>'],
  ['scripts below what can be nested', `${'<i>'.repeat(2_000)}<script>SECRET</script>`],
])('leaves out %s', async (_what, html) => expect(await read(`<p>before</p>${html}<p>after</p>`)).toBe('before\n\nafter'))

it('reads text that is nested too deep to be tracked', async () => {
  expect(await read(`${'<font>'.repeat(3_000)}deep<p>deeper`)).toBe('deep\ndeeper')
})

it('finds the content of a page, and says that there is more', async () => {
  const words = 'What the page is about. '.repeat(20).trim()
  const around = '<nav><a href=/>Home</a></nav><header>Banner</header>'
  const page = (content: string) => `<title> The\n title </title><body>${around}${content}<aside>Adverts</aside><footer>Imprint</footer>`
  for (const content of [
    `<main><h1>Head</h1>${words}<nav>inner</nav></main><div>Cookies</div>`,
    `<div role=main><h1>Head</h1>${words}</div><article>Other</article>`,
    `<article><header><h1>Head</h1></header>${words}</article>Cookies`,
    `<h1>Head</h1>${words}`,
  ])
    expect(await htmlToText(page(content), { address })).toEqual({
      title: 'The title',
      text: `# Head\n\n${words}`,
      refreshesTo: null,
      hasMore: true,
    })
  const whole = await htmlToText(page(`<main>${words}</main>`), { address, whole: true })
  expect(whole.text).toBe(`[Home](https://site.test/)\nBanner\n${words}\nAdverts\nImprint`)
  expect(whole.hasMore).toBe(false)
  // A page that is all navigation is read all the same.
  expect((await htmlToText(page('<main></main>'), { address })).text).toContain('Adverts')
})

it('returns the target of a refresh', async () => {
  const page = '<meta http-equiv="Refresh" content="0; URL=\'/next?a=1\'">'
  expect((await htmlToText(page, { address })).refreshesTo).toBe('https://site.test/next?a=1')
  expect((await htmlToText('<meta http-equiv=refresh content="5">', { address })).refreshesTo).toBeNull()
})

it('rejects with the reason of its signal', async () => {
  const reason = new Error('stopped')
  await expect(htmlToText('<p>x'.repeat(1_000_000), { address, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

const of5MB = (text: string) => text.repeat(Math.ceil(5_000_000 / text.length))

it.each([
  ['an ordinary page', of5MB('<div class="item"><h2>Head</h2><p>Some words and <a href="/a/b?c=d">a link</a>.</p></div>\n')],
  ['nothing but nesting', of5MB('<div>')],
  ['tags that never close, and end tags that were never open', '<b>'.repeat(800_000) + '</x>'.repeat(600_000)],
  ['links alone', of5MB('<a href=x>a</a>')],
  ['one tag with a million attributes', `<p ${of5MB('a=b ')}>x`],
  ['lists in lists', of5MB('<ul><li>')],
  ['tables in tables', of5MB('<table><tr><td>')],
  ['one row of cells', `<table><tr>${of5MB('<td>')}`],
  ['empty lines', `<pre>${of5MB('\n')}`],
  ['one line', of5MB('word ')],
  ['opening brackets', of5MB('<')],
  ['ampersands', of5MB('&')],
  ['comments that never end', of5MB('<!--')],
  ['drawings', of5MB('<svg><p>')],
])('leaves the event loop free while it reads 5 MB of %s', { retry: 2 }, async (_what, html) => {
  // The thread's own time: what the machine gives to others in between is not ours.
  const spent = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  const begun = spent()
  let longest = 0
  let last = spent()
  let isOver = false
  const tick = () => {
    longest = Math.max(longest, spent() - last)
    last = spent()
    if (!isOver) setImmediate(tick)
  }
  tick()
  await htmlToText(html, { address })
  isOver = true
  // On a busy machine the same work costs more; a reader that never paused would have spent all of it in one turn.
  // One collection of garbage may take as much of a turn, but hardly three times in a row.
  expect(longest).toBeLessThan(Math.max(100, (spent() - begun) / 4))
})
