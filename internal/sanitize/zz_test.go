package sanitize
import ("testing";"fmt")
func TestZ(t *testing.T){
 ev:=func(h string)bool{return h=="good.com"}
 for _,s:=range []string{"Hi @octocat, a@b.c fixes #12 o/r#3 GH-4 https://github.com/o/r/issues/12#x <!-- foreman:v1","```sh\nnpm i @types/node\n","`@types/node` @x","a `@x` <b>c</b>","List<String> <b>x</b>","- a\n  ```\n  x","&commat;x &#64;y &amp; &copy;","/close\n/usr/bin"}{
  fmt.Printf("%q\n  %q\n",s,Comment(s,Options{}))
 }
 for _,s:=range []string{"see https://evil.com/x. and <https://evil.com/y> and [a](https://evil.com/z) ![b](https://good.com/p) www.evil.com [c](//evil.com) <a href='x'>y</a>","`https://evil.com` [x]: https://evil.com","https://good.com@evil.com/"}{
  fmt.Printf("%q\n  %q\n",s,Comment(s,Options{AllowLink:ev}))
 }
 fmt.Println(Markdown("1. a\n  # b\n\nhttps://x.com | *x*\n- @foo #1 <b>"), Cell("a|b\n`c`",4), Code("a`b"),Fence("```x```","go lang"))
 fmt.Printf("%q %q\n",Value("# [x](y) `@foo` a|b\n\n/close @"),Trusted("a\n<!-- x\n"))
}
